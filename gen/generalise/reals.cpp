#include "gen/generalise/reals.h"

#include <algorithm>
#include <bit>
#include <set>

#include "base/rng.h"
#include "gen/generalise/check.h"
#include "gen/generalise/ordered_reals.h"
#include "ir/rule/pattern.h"

namespace regraft::gen {
namespace {

constexpr int kDraws = 4;        // of the number, of alternating sign
constexpr size_t kMaxReals = 8;  // of one number on a side

uint64_t bits(double x) { return std::bit_cast<uint64_t>(x); }

class Opener {
 public:
  Opener(Rule rule, const Signature& signature, uint64_t seed)
      : rule_(std::move(rule)), signature_(signature), rng_(seed) {}

  void run() {
    for (const RealPlace& p : numbers_of(rule_.lhs, true)) {
      if (!is_open(p)) open_first(p);
      if (!is_open(p)) open_all(p);
    }
  }
  Rule rule_;
  RealNumbers opened_;  ///< the numbers that became variables

 private:
  double value(const RealPlace& p) { return node_at(rule_, p).attrs.reals[p.attr].value; }
  bool is_open(const RealPlace& p) { return !real_variable(node_at(rule_, p), p.attr).empty(); }
  /// The places of a side with the same number as p.
  RealPlaces alike(const RealPlace& p, bool left) {
    RealPlaces r = numbers_of(left ? rule_.lhs : rule_.rhs, left);
    std::erase_if(r, [&](const RealPlace& q) { return bits(value(q)) != bits(value(p)); });
    return r;
  }
  /// p alone, when others of the left side have its number.
  void open_first(const RealPlace& p) {
    if (alike(p, true).size() > 1) open({p}, alike(p, false));
  }
  void open_all(const RealPlace& p) { open(alike(p, true), alike(p, false)); }

  /// One variable for these places, and for such of `right` that the rule holds.
  void open(const RealPlaces& left, const RealPlaces& right) {
    if (left.size() > kMaxReals || right.size() > kMaxReals) return;
    std::vector<RealPlaces> options = {right};
    if (!right.empty()) options.emplace_back();
    for (size_t k = 0; right.size() > 1 && k < right.size(); ++k) options.push_back({right[k]});
    for (const RealPlaces& chosen : options) {
      RealPlaces places = left;
      places.insert(places.end(), chosen.begin(), chosen.end());
      if (!holds(places)) continue;
      const std::string name = fresh_real(rule_, left[0]);
      opened_[name] = value(left[0]);
      name_places(rule_, places, name);
      return;
    }
  }
  /// The rule holds with other numbers at these places.
  bool holds(const RealPlaces& places) {
    for (int k = 0; k < kDraws; ++k) {
      double x = static_cast<double>(rng_.between(1, 40)) / (k % 2 == 0 ? 8 : -8);
      Rule drawn = rule_;
      for (const RealPlace& p : places) node_at(drawn, p).attrs.reals[p.attr].value = x;
      if (check(drawn, signature_, rng_.next(), kShapesEach) != Evidence::Holds) return false;
    }
    return true;
  }

  const Signature& signature_;
  Rng rng_;
};

}  // namespace

PatternNode& node_at(Rule& rule, const RealPlace& p) {
  return (p.left ? rule.lhs : rule.rhs).nodes[p.node];
}

RealPlaces numbers_of(const Pattern& side, bool left) {
  RealPlaces r;
  for (size_t n = 0; n < side.nodes.size(); ++n)
    for (size_t k = 0; k < side.nodes[n].attrs.reals.size(); ++k)
      if (real_variable(side.nodes[n], k).empty()) r.push_back({left, n, k});
  return r;
}

std::string fresh_real(Rule& rule, const RealPlace& p) {
  std::set<std::string> taken(rule.variables.begin(), rule.variables.end());
  for (const Pattern* side : {&rule.lhs, &rule.rhs})
    for (const PatternNode& n : side->nodes) {
      taken.insert(n.list_vars.begin(), n.list_vars.end());
      taken.insert(n.real_vars.begin(), n.real_vars.end());
      for (const auto& list : n.attrs.ints)
        for (const Poly& q : list)
          for_each_symbol(q, [&](Var v) { taken.insert(number_name(*v).value_or("")); });
    }
  const char letter = node_at(rule, p).op->reals[p.attr].name[0];
  std::string name(1, letter);
  while (taken.count(name) > 0) name += letter;
  return name;
}

void name_places(Rule& rule, const RealPlaces& places, const std::string& name) {
  for (const RealPlace& p : places) {
    PatternNode& n = node_at(rule, p);
    n.real_vars.resize(n.attrs.reals.size());
    n.real_vars[p.attr] = name;
    n.attrs.reals[p.attr] = {};
  }
}

Rule open_reals(Rule rule, const Signature& signature, uint64_t seed) {
  Opener opener(std::move(rule), signature, seed);
  opener.run();
  return open_ordered_reals(std::move(opener.rule_), opener.opened_, signature, seed);
}

}  // namespace regraft::gen

#include "gen/generalise/reals.h"

#include <algorithm>
#include <bit>
#include <set>

#include "base/rng.h"
#include "gen/generalise/check.h"
#include "ir/rule/pattern.h"

namespace regraft::gen {
namespace {

constexpr int kDraws = 4;        // of the number, of alternating sign
constexpr int kShapesEach = 6;   // at which each must hold
constexpr size_t kMaxReals = 8;  // of one number on a side

/// A real attribute of a node of the left or the right side.
struct Place {
  bool left = true;
  size_t node = 0, attr = 0;
};
using Places = std::vector<Place>;

PatternNode& node_at(Rule& rule, const Place& p) {
  return (p.left ? rule.lhs : rule.rhs).nodes[p.node];
}
uint64_t bits(double x) { return std::bit_cast<uint64_t>(x); }

/// The places of a side with a number.
Places numbers_of(const Pattern& side, bool left) {
  Places r;
  for (size_t n = 0; n < side.nodes.size(); ++n)
    for (size_t k = 0; k < side.nodes[n].attrs.reals.size(); ++k)
      if (real_variable(side.nodes[n], k).empty()) r.push_back({left, n, k});
  return r;
}

/// Some letters that are no name in the rule yet.
std::string fresh_name(const Rule& rule, char letter) {
  std::set<std::string> taken(rule.variables.begin(), rule.variables.end());
  for (const Pattern* side : {&rule.lhs, &rule.rhs})
    for (const PatternNode& n : side->nodes) {
      taken.insert(n.list_vars.begin(), n.list_vars.end());
      taken.insert(n.real_vars.begin(), n.real_vars.end());
      for (const auto& list : n.attrs.ints)
        for (const Poly& p : list)
          for_each_symbol(p, [&](Var v) { taken.insert(number_name(*v).value_or("")); });
    }
  std::string name(1, letter);
  while (taken.count(name) > 0) name += letter;
  return name;
}

class Opener {
 public:
  Opener(Rule rule, const Signature& signature, uint64_t seed)
      : rule_(std::move(rule)), signature_(signature), rng_(seed) {}

  Rule run() {
    for (const Place& p : numbers_of(rule_.lhs, true)) {
      if (!is_open(p)) open_first(p);
      if (!is_open(p)) open_all(p);
    }
    return std::move(rule_);
  }

 private:
  double value(const Place& p) { return node_at(rule_, p).attrs.reals[p.attr].value; }
  bool is_open(const Place& p) { return !real_variable(node_at(rule_, p), p.attr).empty(); }
  /// The places of a side with the same number as p.
  Places alike(const Place& p, bool left) {
    Places r = numbers_of(left ? rule_.lhs : rule_.rhs, left);
    std::erase_if(r, [&](const Place& q) { return bits(value(q)) != bits(value(p)); });
    return r;
  }
  /// p alone, when others of the left side have its number.
  void open_first(const Place& p) {
    if (alike(p, true).size() > 1) open({p}, alike(p, false));
  }
  void open_all(const Place& p) { open(alike(p, true), alike(p, false)); }

  /// One variable for these places, and for such of `right` that the rule holds.
  void open(const Places& left, const Places& right) {
    if (left.size() > kMaxReals || right.size() > kMaxReals) return;
    std::vector<Places> options = {right};
    if (!right.empty()) options.emplace_back();
    for (size_t k = 0; right.size() > 1 && k < right.size(); ++k) options.push_back({right[k]});
    for (const Places& chosen : options) {
      Places places = left;
      places.insert(places.end(), chosen.begin(), chosen.end());
      if (!holds(places)) continue;
      std::string name = fresh_name(rule_, first_letter(left[0]));
      for (const Place& p : places) {
        PatternNode& n = node_at(rule_, p);
        n.real_vars.resize(n.attrs.reals.size());
        n.real_vars[p.attr] = name;
        n.attrs.reals[p.attr] = {};
      }
      return;
    }
  }
  char first_letter(const Place& p) { return node_at(rule_, p).op->reals[p.attr].name[0]; }
  /// The rule holds with other numbers at these places.
  bool holds(const Places& places) {
    for (int k = 0; k < kDraws; ++k) {
      double x = static_cast<double>(rng_.between(1, 40)) / (k % 2 == 0 ? 8 : -8);
      Rule drawn = rule_;
      for (const Place& p : places) node_at(drawn, p).attrs.reals[p.attr].value = x;
      if (check(drawn, signature_, rng_.next(), kShapesEach) != Evidence::Holds) return false;
    }
    return true;
  }

  Rule rule_;
  const Signature& signature_;
  Rng rng_;
};

}  // namespace

Rule open_reals(Rule rule, const Signature& signature, uint64_t seed) {
  return Opener(std::move(rule), signature, seed).run();
}

}  // namespace regraft::gen

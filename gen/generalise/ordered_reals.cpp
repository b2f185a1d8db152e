#include "gen/generalise/ordered_reals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "base/printable.h"
#include "base/rng.h"
#include "gen/generalise/check.h"
#include "ir/algebra/real_expression.h"
#include "ir/rule/pattern.h"

namespace regraft::gen {
namespace {

constexpr int kOrderedDraws = 6;       // of up to two variables; each more doubles them
constexpr int kOrderedAttempts = 400;  // to draw numbers as the conditions say
constexpr double kInfinite = 1e38;     // no number is meant
constexpr size_t kMostNumbers = 8;     // of a rule's left side

/// A number, or the variable that has it at the witness.
struct Bound {
  double value = 0;
  std::string name = {};  ///< empty: a number
  double in(const RealNumbers& numbers) const { return name.empty() ? value : numbers.at(name); }
  std::string text() const {
    RealExpression e;
    e.kind = name.empty() ? RealExpression::Number : RealExpression::Name;
    e.number = value;
    e.name = "?" + name;
    return print(e, [](const std::string& n) { return n; });
  }
};

struct Comparison {
  Bound low, high;
  Relation relation = Relation::AtMost;
  bool in(const RealNumbers& numbers) const {
    return regraft::holds(low.in(numbers), relation, high.in(numbers));
  }
};
using Comparisons = std::vector<Comparison>;

/// The rule with numbers for its real variables; its expressions are computed.
Rule with_numbers(Rule rule, const RealNumbers& numbers) {
  auto named = [&](const std::string& name) -> std::optional<double> {
    auto at = numbers.find(name.substr(1));
    return name[0] == '?' && at != numbers.end() ? std::optional(at->second) : std::nullopt;
  };
  for (Pattern* side : {&rule.lhs, &rule.rhs})
    for (PatternNode& n : side->nodes)
      for (size_t k = 0; k < n.real_vars.size(); ++k) {
        if (n.real_vars[k].empty()) continue;
        auto x = is_expression(n.real_vars[k]) ? value_of(expression_of(n.real_vars[k]), named)
                                               : named("?" + n.real_vars[k]);
        if (!x) continue;
        n.attrs.reals[k] = {*x, nullptr};
        n.real_vars[k].clear();
      }
  return rule;
}

/// What a number of the right side may be of two of the left. Quotients are rounded, so doubles
/// decide whether a rule with one holds.
struct Combination {
  double (*value)(double u, double v);
  std::string_view text;  ///< u and v stand for the names
  bool divides = false;   ///< by v
};
constexpr std::array kCombinations = {
    Combination{[](double u, double v) { return u * v; }, "u*v"},
    Combination{[](double u, double v) { return u + v; }, "u+v"},
    Combination{[](double u, double v) { return u * (v * v); }, "u*(v*v)"},
    Combination{[](double u, double v) { return u / v; }, "u/v", true},
    Combination{[](double u, double v) { return u / (v * v); }, "u/(v*v)", true},
};
std::string text_of(std::string_view text, const std::string& u, const std::string& v) {
  std::string r = "=";
  for (char c : text) r += c == 'u' ? "?" + u : c == 'v' ? "?" + v : std::string(1, c);
  return r;
}

class Orderer {
 public:
  Orderer(Rule rule, RealNumbers opened, const Signature& signature, uint64_t seed)
      : rule_(std::move(rule)),
        signature_(signature),
        rng_(mix(seed)),
        witness_(std::move(opened)) {}

  Rule run() {
    std::vector<double> numbers = open_numbers();
    if (numbers.empty() || numbers.size() > kMostNumbers) return std::move(rule_);
    for (double u : numbers)
      for (double v : numbers)
        if (u != v) open_two(u, v);
    for (double x : open_numbers()) open_one(x);
    for (const Comparison& c : conditions_)
      rule_.real_where.push_back({c.low.text(), c.high.text(), c.relation});
    return std::move(rule_);
  }

 private:
  /// Numbers of the left side that may become variables, each once.
  std::vector<double> open_numbers() {
    std::vector<double> r;
    for (const RealPlace& p : numbers_of(rule_.lhs, true)) {
      double x = node_at(rule_, p).attrs.reals[p.attr].value;
      if (x != 0 && std::abs(x) < kInfinite && std::find(r.begin(), r.end(), x) == r.end())
        r.push_back(x);
    }
    return r;
  }
  RealPlaces places(double x, bool left) {
    RealPlaces r = numbers_of(left ? rule_.lhs : rule_.rhs, left);
    std::erase_if(
        r, [&](const RealPlace& p) { return node_at(rule_, p).attrs.reals[p.attr].value != x; });
    return r;
  }

  /// Two numbers of the left side at once, with one of the right side that is made of them.
  void open_two(double u, double v) {
    RealPlaces first = places(u, true), second = places(v, true);
    if (first.empty() || second.empty()) return;
    for (const Combination& e : kCombinations) {
      double w = e.value(u, v);
      RealPlaces right = places(w, false);
      if (right.empty() || w == u || w == v || !places(w, true).empty()) continue;
      Rule opened = rule_;
      const std::string a = name_all(opened, u, first), b = name_all(opened, v, second);
      name_places(opened, right, text_of(e.text, a, b));
      RealNumbers witness = witness_;
      witness[a] = u;
      witness[b] = v;
      Comparisons known = conditions_;
      if (e.divides) known.push_back(apart_from_zero({v, b}));
      if (take(opened, witness, known, {Bound{v, b}, Bound{u, a}})) return;
    }
  }
  /// On the side of 0 where it is at the witness.
  static Comparison apart_from_zero(const Bound& x) {
    return x.value > 0 ? Comparison{{0}, x, Relation::Below} : Comparison{x, {0}, Relation::Below};
  }
  /// One variable for the number's places on both sides.
  std::string name_all(Rule& rule, double x, const RealPlaces& left) {
    const std::string name = fresh_real(rule, left[0]);
    name_places(rule, left, name);
    name_places(rule, places(x, false), name);
    return name;
  }

  void open_one(double x) {
    RealPlaces left = places(x, true);
    if (left.empty()) return;
    for (bool with_right : {true, false}) {
      RealPlaces right = places(x, false);
      if (!with_right && right.empty()) return;
      Rule opened = rule_;
      const std::string name = fresh_real(opened, left[0]);
      name_places(opened, left, name);
      if (with_right) name_places(opened, right, name);
      Comparisons conditions = conditions_;  // that name the number name the variable now
      for (Comparison& c : conditions)
        for (Bound* b : {&c.low, &c.high})
          if (b->name.empty() && b->value == x) b->name = name;
      RealNumbers witness = witness_;
      witness[name] = x;
      if (take(opened, witness, conditions, {Bound{x, name}})) return;
    }
  }

  /// Takes the rule where it holds under the weakest of conditions on `bounds`. False: under none.
  bool take(const Rule& opened, const RealNumbers& witness, const Comparisons& known,
            const std::vector<Bound>& bounds) {
    if (!holds_nearby(opened, witness)) return false;
    Comparisons single;
    for (const Bound& b : bounds) add_comparisons(opened, witness, b, single);
    std::vector<Comparisons> options = {{}};
    for (const Comparison& c : single) options.push_back({c});
    for (size_t i = 0; i < single.size(); ++i)
      for (size_t j = i + 1; j < single.size(); ++j) options.push_back({single[i], single[j]});
    for (const Comparisons& more : options) {
      Comparisons all = known;
      all.insert(all.end(), more.begin(), more.end());
      if (!holds(opened, witness, all)) continue;
      rule_ = opened;
      witness_ = witness;
      conditions_ = std::move(all);
      return true;
    }
    return false;
  }
  /// Comparisons of a variable with 0, 1 and the other variables and numbers that hold at the
  /// witness.
  void add_comparisons(const Rule& opened, const RealNumbers& witness, const Bound& x,
                       Comparisons& to) const {
    std::vector<Bound> others;  // the rule's own come first: they say more than 0 and 1
    for (const auto& [name, value] : witness)
      if (name != x.name) others.push_back({value, name});
    auto add_number = [&](double y) {
      bool fresh = std::none_of(others.begin(), others.end(),
                                [&](const Bound& b) { return b.name.empty() && b.value == y; });
      if (fresh) others.push_back({y});
    };
    for (const Pattern* side : {&opened.lhs, &opened.rhs})
      for (const PatternNode& n : side->nodes)
        for (size_t k = 0; k < n.attrs.reals.size(); ++k) {
          double y = n.attrs.reals[k].value;
          if (real_variable(n, k).empty() && std::abs(y) < kInfinite) add_number(y);
        }
    add_number(0);
    add_number(1);
    for (const Bound& y : others) {
      if (x.value <= y.value) to.push_back({x, y});
      if (y.value <= x.value) to.push_back({y, x});
    }
  }

  /// Numbers next to the witness, in the same order. Where it does not hold, no condition helps.
  bool holds_nearby(const Rule& rule, RealNumbers numbers) {
    for (auto& [name, x] : numbers) x *= 1 + static_cast<double>(rng_.between(1, 15)) / 1024;
    return check(with_numbers(rule, numbers), signature_, rng_.next(), kShapesEach) ==
           Evidence::Holds;
  }
  bool holds(const Rule& rule, const RealNumbers& witness, const Comparisons& conditions) {
    size_t more = std::min<size_t>(witness.size(), 6);
    int draws = more <= 2 ? kOrderedDraws : kOrderedDraws << (more - 2);
    for (int k = 0; k < draws; ++k) {
      auto numbers = draw(witness, conditions);
      if (!numbers || check(with_numbers(rule, *numbers), signature_, rng_.next(), kShapesEach) !=
                          Evidence::Holds)
        return false;
    }
    return true;
  }
  std::optional<RealNumbers> draw(const RealNumbers& witness, const Comparisons& conditions) {
    for (int k = 0; k < kOrderedAttempts; ++k) {
      RealNumbers r = witness;
      for (auto& [name, x] : r)
        x = static_cast<double>(rng_.between(1, 64)) / (rng_.below(2) ? 8 : -8);
      if (std::all_of(conditions.begin(), conditions.end(),
                      [&](const Comparison& c) { return c.in(r); }))
        return r;
    }
    return std::nullopt;
  }

  Rule rule_;
  const Signature& signature_;
  Rng rng_;
  RealNumbers witness_;  ///< of each real variable
  Comparisons conditions_;
};

}  // namespace

Rule open_ordered_reals(Rule rule, const RealNumbers& opened, const Signature& signature,
                        uint64_t seed) {
  return Orderer(std::move(rule), opened, signature, seed).run();
}

}  // namespace regraft::gen

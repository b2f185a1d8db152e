// Ordered facts: ranges of functions, what known inequalities say together, monotone functions.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "verify/arithmetic/elimination.h"
#include "verify/normal/alike.h"
#include "verify/normal/laws.h"
#include "verify/normal/match.h"
#include "verify/normal/signs.h"
#include "verify/normal/sums.h"

namespace regraft::verify {
namespace {

constexpr size_t kMostColumns = 16;
constexpr int64_t kLargest = int64_t{1} << 24;  // of a coefficient that is compared

/// An end of an interval; nullopt: none. `open`: the value itself is not taken.
struct End {
  std::optional<Rational> value;
  bool open = false;
};
struct Range {
  End low, high;
};

bool below(Rational a, Rational b) { return (a + b * Rational{-1, 1}).n < 0; }

End sum(const End& a, const End& b) {
  if (!a.value || !b.value) return {};
  return {*a.value + *b.value, a.open || b.open};
}
Range times(Rational c, Range r) {
  if (c.n < 0) std::swap(r.low, r.high);
  for (End* e : {&r.low, &r.high})
    if (e->value) e->value = *e->value * c;
  return r;
}

/// The values that a function takes, when they are bounded on both sides.
std::optional<Range> range_of(const Atom& a) {
  if (const FnFacts* f = function_facts(a); f && f->range)
    return Range{{Rational{f->range->low, 1}, true}, {Rational{f->range->high, 1}, true}};
  if (a.kind != Atom::Clip) return std::nullopt;
  auto low = rational_of(a.reals[0]), high = rational_of(a.reals[1]);
  if (!low || !high || below(*high, *low)) return std::nullopt;
  return Range{{*low, false}, {*high, false}};
}

/// A product without its coefficient, as a column.
class Columns {
 public:
  /// nullopt: not a plain sum, or too large.
  std::optional<Inequality> row(const Sum& s, int64_t side, bool strict) {
    int64_t scale = 1;
    for (const Product& p : s.products) {
      if (!bare(p)) return std::nullopt;
      scale = std::lcm(scale, p.coefficient.d);
      if (scale > kLargest) return std::nullopt;
    }
    Inequality r{{}, 0, strict};
    for (const Product& p : s.products) {
      Rational c = p.coefficient * Rational{side * scale, 1};
      if (std::abs(c.n) > kLargest) return std::nullopt;
      if (p.atoms.empty()) {
        r.k += c.n;
        continue;
      }
      auto at =
          std::find_if(all_.begin(), all_.end(), [&](const Product& q) { return alike(p, q); });
      if (at == all_.end()) {
        if (all_.size() == kMostColumns) return std::nullopt;
        all_.push_back(p);
        at = all_.end() - 1;
      }
      r.c.push_back({static_cast<uint32_t>(at - all_.begin()), c.n});
    }
    return r;
  }

 private:
  std::vector<Product> all_;
};

bool never_negative(const Atom& a) {
  const FnFacts* f = function_facts(a);
  return f && (f->sign == SignOf::PositivePart || f->sign == SignOf::Positive);
}

}  // namespace

std::optional<Rational> rational_of(const Real& r) {
  double scaled = r.value * 1024;
  if (r.symbol || scaled != std::floor(scaled) || std::abs(scaled) >= 1e9) return std::nullopt;
  return Rational::make(static_cast<int64_t>(scaled), 1024);
}

Sign by_range(const Sum& s, const Context& context) {
  Range all{{Rational{0, 1}, false}, {Rational{0, 1}, false}};
  bool bounded = false;
  for (const Product& p : s.products) {
    Range r;
    if (bare(p) && p.atoms.empty()) {
      r = {{p.coefficient, false}, {p.coefficient, false}};
    } else if (auto f = bare(p) && p.atoms.size() == 1 ? range_of(p.atoms[0]) : std::nullopt) {
      r = times(p.coefficient, *f);
      bounded = true;
    } else {
      Sign x = sign_of(p, context);
      if (x.not_negative()) r.low = {Rational{0, 1}, x.not_zero()};
      if (x.not_positive()) r.high = {Rational{0, 1}, x.not_zero()};
    }
    all = {sum(all.low, r.low), sum(all.high, r.high)};
  }
  if (!bounded) return {};
  auto bound = [](const End& e) {
    return Bound{e.value ? std::optional(sign_of(*e.value)) : std::nullopt, e.open};
  };
  return between(bound(all.low), bound(all.high));
}

Sign by_combination(const Sum& s, const Facts& known) {
  Columns columns;
  auto above = columns.row(s, 1, true), below = columns.row(s, -1, true);
  if (!above || !below) return {};
  std::vector<Inequality> facts;
  for (const Known& k : known) {
    if (!k.bound.empty() || !k.guard.empty()) continue;
    for (int64_t side : {1, -1})
      if (side == 1 ? k.sign.not_negative() : k.sign.not_positive())
        if (auto row = columns.row(k.value, side, k.sign.not_zero())) facts.push_back(*row);
  }
  if (facts.empty()) return {};
  facts.push_back(*below);  // where s is negative
  bool negative = !no_reals(facts);
  facts.back() = *above;
  return {negative, true, !no_reals(facts)};
}

namespace {

/// A product of x and of increasing functions of x, with another value for x; and how many of its
/// factors are x, never negative, and a relu.
struct Image {
  Sum product;
  size_t plain = 0, positive = 0, rectified = 0;
};
std::optional<Image> image_of(const Product& p, const Atom& x, const Sum& other,
                              const Context& context) {
  if (!bare(p)) return std::nullopt;
  Image r{number(p.coefficient)};
  for (const Atom& f : p.atoms) {
    if (same_atom(f, x, context)) {
      ++r.plain;
      r.product = r.product * other;
      continue;
    }
    const Atom* inner = increases(f) ? only_atom(*f.argument) : nullptr;
    if (!inner || !same_atom(*inner, x, context)) return std::nullopt;
    r.positive += never_negative(f);
    r.rectified += is_function(f, Fn::Relu);
    Atom g = f;
    g.argument = std::make_shared<Sum>(other);
    r.product = r.product * sum_of(std::move(g));
  }
  return r;
}

}  // namespace

std::optional<Sum> through_monotone(const Atom& a, const Context& context) {
  const Sum& s = *a.argument;
  const Atom* x = nullptr;
  for (const Product& p : s.products)
    for (const Atom& f : p.atoms)
      if (increases(f) && only_atom(*f.argument)) x = only_atom(*f.argument);
  if (!x) return std::nullopt;
  const Sum largest = maximum_of(a, sum_of(*x));
  Sum result;
  Rational slope{0, 1}, slope_above{0, 1};
  for (const Product& p : s.products) {
    auto image = image_of(p, *x, largest, context);
    if (!image) return std::nullopt;
    auto& [product, plain, positive, rectified] = *image;
    bool linear = p.atoms.size() == 1 && plain + rectified == 1;
    bool all_positive = positive + plain == p.atoms.size() && plain <= rectified;
    if (linear) {
      slope_above = slope_above + p.coefficient;
      if (plain) slope = slope + p.coefficient;
    } else if (p.coefficient.n < 0 || (p.atoms.size() > 1 && !all_positive)) {
      return std::nullopt;
    }
    result = std::move(result) + product;
  }
  if (slope.n < 0 || slope_above.n < 0) return std::nullopt;
  return result;
}

}  // namespace regraft::verify

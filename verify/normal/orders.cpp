// Ordered facts: ranges of functions, what known inequalities say together, monotone functions.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "verify/arithmetic/linear.h"
#include "verify/normal/alike.h"
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
    Inequality r{std::vector<int64_t>(kMostColumns), 0, strict};
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
      r.c[static_cast<size_t>(at - all_.begin())] += c.n;
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

/// From the ranges of the functions in s.
Sign Laws::by_range(const Sum& s, const Conjunction& context) {
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
      Sign x = sign(p, context);
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

/// From what is known, as linear inequalities between products.
Sign Laws::by_combination(const Sum& s) {
  Columns columns;
  auto above = columns.row(s, 1, true), below = columns.row(s, -1, true);
  if (!above || !below) return {};
  std::vector<Inequality> facts;
  for (const Known& k : known_) {
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

/// f(-x) = -f(x).
std::optional<Sum> Laws::odd(const Atom& a) {
  const Sum& x = *a.argument;
  if (x.products.empty() || leading(x).n >= 0) return std::nullopt;
  return scaled(function_of(static_cast<Fn>(a.head), scaled(x, {-1, 1})), {-1, 1});
}

/// max g(x) = g(max x) for g that increases: a sum of x, of increasing functions of x and of
/// products of such that are not negative (x relu(x) is a square). Of a x + b relu(x) both slopes
/// count, a and a + b.
std::optional<Sum> Laws::through_monotone(const Atom& a, const Conjunction& context) {
  const Sum& s = *a.argument;
  const Atom* x = nullptr;
  for (const Product& p : s.products)
    for (const Atom& f : p.atoms)
      if (increases(f) && only_atom(*f.argument)) x = only_atom(*f.argument);
  if (!x) return std::nullopt;
  Atom largest = a;
  largest.argument = std::make_shared<Sum>(sum_of(*x));
  Sum result;
  Rational slope{0, 1}, slope_above{0, 1};
  for (const Product& p : s.products) {
    if (!bare(p)) return std::nullopt;
    Sum product = number(p.coefficient);
    size_t plain = 0, positive = 0, rectified = 0;
    for (const Atom& f : p.atoms) {
      if (same_atom(f, *x, context)) {
        ++plain;
        product = product * sum_of(largest);
        continue;
      }
      const Atom* inner = increases(f) ? only_atom(*f.argument) : nullptr;
      if (!inner || !same_atom(*inner, *x, context)) return std::nullopt;
      positive += never_negative(f);
      rectified += is_function(f, Fn::Relu);
      Atom g = f;
      g.argument = std::make_shared<Sum>(sum_of(largest));
      product = product * sum_of(std::move(g));
    }
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

/// max(f + c relu(g)) = max(x, y) = x + relu(y - x) with x = max f, y = max(f + c g), for c > 0.
std::optional<Sum> Laws::split_rectified(const Atom& a) {
  const auto& products = a.argument->products;
  auto rectified = [](const Product& p) {
    return bare(p) && p.coefficient.n > 0 && p.atoms.size() == 1 &&
           is_function(p.atoms[0], Fn::Relu);
  };
  auto at = std::find_if(products.begin(), products.end(), rectified);
  if (at == products.end()) return std::nullopt;
  Sum without = *a.argument;
  without.products.erase(without.products.begin() + (at - products.begin()));
  auto over = [&](Sum argument) {
    Atom m = a;
    m.argument = std::make_shared<Sum>(std::move(argument));
    return sum_of(std::move(m));
  };
  Sum x = over(without);
  Sum y = over(without + scaled(rename_bound(*at->atoms[0].argument), at->coefficient));
  return x + function_of(Fn::Relu, y + scaled(x, {-1, 1}));
}

/// Of the average of something over loops, that something, as a product whose guard says what the
/// loops run over; nullopt: it is no average, or not wherever the context holds.
std::optional<Product> Laws::averaged(Product p, const Conjunction& context) {
  Conjunction ranges, rest = p.guard;
  for (Var v : std::exchange(p.bound, {})) {
    auto inverse = std::find_if(p.atoms.begin(), p.atoms.end(), [&](const Atom& r) {
      if (r.kind != Atom::Recip) return false;
      const Poly at = Poly::symbol(v), &length = r.positions[0];
      Conjunction range, said;
      add(range, Poly(0) <= at && at < length);
      std::copy_if(rest.begin(), rest.end(), std::back_inserter(said),
                   [&](const Formula& g) { return mentions(g, v); });
      return same_conditions(range, said) && solver_.implies(context, Poly(1) <= length);
    });
    if (inverse == p.atoms.end()) return std::nullopt;
    p.atoms.erase(inverse);
    for (const Formula& g : rest)
      if (mentions(g, v)) add(ranges, g);
    std::erase_if(rest, [&](const Formula& g) { return mentions(g, v); });
  }
  if (!solver_.implies(context, rest, Products::Opaque)) return std::nullopt;
  p.guard = std::move(ranges);
  return p;
}

}  // namespace regraft::verify

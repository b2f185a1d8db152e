#include "verify/normal/laws.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "verify/normal/alike.h"
#include "verify/normal/factors.h"
#include "verify/normal/match.h"
#include "verify/normal/ranges.h"
#include "verify/normal/signs.h"
#include "verify/normal/sums.h"

namespace regraft::verify {
namespace {

constexpr int64_t kMaxPower = 6;  // exp(n * x) is written as so many factors at most

/// The integer that a sum of products of integers is.
std::optional<Poly> integer_of(const Sum& s) {
  Poly r;
  for (const auto& p : s.products) {
    if (!bare(p) || p.coefficient.d != 1) return std::nullopt;
    Poly x(p.coefficient.n);
    for (const auto& a : p.atoms) {
      if (a.kind != Atom::Number) return std::nullopt;
      x = x * a.positions[0];
    }
    r = r + x;
  }
  return r;
}

bool is_square(int64_t n, int64_t& root) {
  if (n < 0) return false;
  root = static_cast<int64_t>(std::llround(std::sqrt(static_cast<double>(n))));
  return root < (int64_t{1} << 31) && root * root == n;
}

std::optional<Sum> exponential(const Sum& s);
std::optional<Sum> reciprocal(const Sum& s, const Context& context);
std::optional<Sum> root(const Sum& s, const Context& context);
std::optional<Sum> rectified(const Sum& s, const Context& context);
std::optional<Sum> logarithm(const Sum& s, const Context& context);
std::optional<Sum> odd(const Atom& a);
std::optional<Sum> even(const Atom& a);
std::optional<Sum> bounded(const Atom& a, const Context& context);
Sum expanded(const Atom& a);

}  // namespace

std::optional<Sum> rewritten(const Atom& a, const Context& context) {
  if (a.kind == Atom::Max) return maximum(a, context);
  if (a.kind == Atom::Clip) return bounded(a, context);
  bool by_exp = is_function(a, Fn::Sigmoid) || is_function(a, Fn::Tanh);
  if (by_exp && context.laws == Laws::All) return expanded(a);
  if (a.kind != Atom::Apply) return std::nullopt;
  switch (static_cast<Fn>(a.head)) {
    case Fn::Exp:
      return exponential(*a.argument);
    case Fn::Recip:
      return reciprocal(*a.argument, context);
    case Fn::Sqrt:
      return root(*a.argument, context);
    case Fn::Relu:
      return rectified(*a.argument, context);
    case Fn::Log:
      return logarithm(*a.argument, context);
    case Fn::Cos:
      return even(a);
    default:
      if (auto same = whole(a)) return same;
      if (function_facts(a)->jumps)
        if (auto value = jumping(a, context)) return value;
      return function_facts(a)->odd ? odd(a) : std::nullopt;
  }
}

namespace {

/// x^n, also for n < 0.
Sum integer_power(const Sum& x, int64_t n) {
  Sum factor = n < 0 ? function_of(Fn::Recip, x) : x, r = number({1, 1});
  for (int64_t k = std::abs(n); k > 0; --k) r = r * rename_bound(factor);
  return r;
}

/// exp(x + y) = exp(x) exp(y), exp(n x) = exp(x)^n, exp(0) = 1, exp(n log x) = x^n, and
/// exp(n/2 log x) = sqrt(x)^n: what has a logarithm is positive.
std::optional<Sum> exponential(const Sum& s) {
  if (s.products.empty()) return number({1, 1});
  for (size_t k = 0; k < s.products.size(); ++k) {
    const Product& p = s.products[k];
    bool log = bare(p) && p.atoms.size() == 1 && is_function(p.atoms[0], Fn::Log) &&
               p.coefficient.d <= 2 && std::abs(p.coefficient.n) <= kMaxPower;
    if (!log) continue;
    Sum rest = s, base = *p.atoms[0].argument;
    drop(rest.products, k);
    if (p.coefficient.d == 2) base = function_of(Fn::Sqrt, std::move(base));
    return integer_power(base, p.coefficient.n) * function_of(Fn::Exp, std::move(rest));
  }
  auto power = [](const Product& p) {
    int64_t n = std::abs(p.coefficient.n);
    return bare(p) && n <= kMaxPower ? n : 1;
  };
  if (s.products.size() == 1 && power(s.products[0]) == 1) return std::nullopt;
  Sum r = number({1, 1});
  for (Product p : s.products) {
    int64_t n = power(p);
    p.coefficient = p.coefficient * Rational::make(1, n);
    Sum factor = function_of(Fn::Exp, single(p));
    for (int64_t k = 0; k < n; ++k) r = r * factor;
  }
  return r;
}

/// 1/a as something else than that.
std::optional<Sum> inverse(const Atom& a) {
  if (a.kind == Atom::Number || a.kind == Atom::Recip) {
    Atom b = a;
    b.kind = a.kind == Atom::Number ? Atom::Recip : Atom::Number;
    return sum_of(std::move(b));
  }
  if (is_function(a, Fn::Recip)) return *a.argument;
  if (is_function(a, Fn::Exp)) return function_of(Fn::Exp, scaled(*a.argument, {-1, 1}));
  if (is_function(a, Fn::Sqrt)) return sum_of(a) * function_of(Fn::Recip, *a.argument);
  return std::nullopt;
}

/// 1/(x y) = 1/x 1/y, also where x is a factor of all summands.
std::optional<Sum> reciprocal(const Sum& s, const Context& context) {
  if (s.products.empty()) return std::nullopt;
  if (auto n = integer_of(s); n && !n->is_zero()) {
    Atom a;
    a.kind = Atom::Recip;
    a.positions = {*n};
    return sum_of(std::move(a));
  }
  auto inverse_or_recip = [&](const Atom& a) {
    auto i = inverse(a);
    return i ? *i : function_of(Fn::Recip, sum_of(a));
  };
  Rational c = leading(s);
  auto [factors, rest] = common_factors(s, {}, context);
  bool nothing_left = is_number(rest);
  bool canonical = c == Rational{1, 1} &&
                   (nothing_left ? factors.size() == 1 && !inverse(factors[0]) : factors.empty());
  if (canonical) return std::nullopt;
  Sum r = number(inverse_of(c));
  for (const auto& a : factors) r = r * inverse_or_recip(a);
  if (!nothing_left) r = r * function_of(Fn::Recip, scaled(rest, inverse_of(c)));
  return r;
}

/// The absolute value.
Sum absolute_value(const Sum& x) {
  return function_of(Fn::Relu, x) + function_of(Fn::Relu, scaled(rename_bound(x), {-1, 1}));
}

/// sqrt(x + y / d^2) = sqrt(x d^2 + y) / d for d > 0.
std::optional<Sum> root_of_quotient(const Sum& s, const Context& context) {
  for (const Product& p : s.products)
    for (size_t i = 0; i < p.atoms.size(); ++i) {
      const Atom& d = p.atoms[i];
      if (!is_function(d, Fn::Recip) || mentions_any(d, p.bound)) continue;
      auto same = [&](const Atom& a, const Product&) {
        return is_function(a, Fn::Recip) && same_atom(a, d, context);
      };
      bool twice = std::any_of(p.atoms.begin() + static_cast<std::ptrdiff_t>(i) + 1, p.atoms.end(),
                               [&](const Atom& a) { return same(a, p); });
      if (!twice || !sign_of(d, context).positive()) continue;
      Sum once = without_denominator(s.products, d, same);
      return sum_of(d) * function_of(Fn::Sqrt, without_denominator(once.products, d, same));
    }
  return std::nullopt;
}

/// The root of a product, of the factors that are known not to be negative.
std::optional<Sum> root(const Sum& s, const Context& context) {
  if (s.products.size() > 1 && !context.facts.empty()) return root_of_quotient(s, context);
  if (s.products.size() != 1 || !bare(s.products[0])) return std::nullopt;
  Product rest = s.products[0];
  Sum out = number({1, 1});
  bool found = false;
  int64_t n = 0, d = 0;
  if (!(rest.coefficient == Rational{1, 1}) && is_square(rest.coefficient.n, n) &&
      is_square(rest.coefficient.d, d)) {
    scale(out, Rational::make(n, d));
    rest.coefficient = {1, 1};
    found = true;
  }
  for (size_t i = 0; i < rest.atoms.size();) {
    const Atom a = rest.atoms[i];
    if (is_function(a, Fn::Exp)) {
      out = out * function_of(Fn::Exp, scaled(*a.argument, {1, 2}));
      drop(rest.atoms, i);
      found = true;
      continue;
    }
    size_t twin = i + 1;
    while (context.laws >= Laws::Clips && twin < rest.atoms.size() &&
           !same_atom(a, rest.atoms[twin], context))
      ++twin;
    if (context.laws >= Laws::Clips && twin < rest.atoms.size()) {
      drop(rest.atoms, twin);
      drop(rest.atoms, i);
      out = out * absolute_value(sum_of(a));
      found = true;
      continue;
    }
    bool alone = rest.atoms.size() == 1 && rest.coefficient == Rational{1, 1};
    if (alone && is_function(a, Fn::Recip))
      return out * function_of(Fn::Sqrt, *a.argument) * sum_of(a);
    if (alone || !sign_of(a, context).not_negative()) {
      ++i;
      continue;
    }
    size_t j = i + 1;
    while (j < rest.atoms.size() && !same_atom(a, rest.atoms[j], context)) ++j;
    bool square = j < rest.atoms.size();
    if (square) drop(rest.atoms, j);
    drop(rest.atoms, i);
    out = out * (square ? sum_of(a) : function_of(Fn::Sqrt, sum_of(a)));
    found = true;
  }
  if (!found) return std::nullopt;
  bool one = rest.atoms.empty() && rest.coefficient == Rational{1, 1};
  return one ? out : out * function_of(Fn::Sqrt, single(rest));
}

/// log(exp x) = x, log(1/x) = -log x, log(x y) = log x + log y where x is known to be positive;
/// what is left is positive too, since the product is.
std::optional<Sum> logarithm(const Sum& s, const Context& context) {
  if (s.products.empty()) return std::nullopt;
  auto [factors, rest] = common_factors(s, {}, context);
  Rational c = leading(rest);
  bool number_left = is_number(rest);
  if (c.n <= 0) c = {1, 1};
  if (number_left && factors.empty())
    return c == Rational{1, 1} && rest.products[0].coefficient == c ? std::optional(Sum{})
                                                                    : std::nullopt;
  Sum out;
  std::vector<Atom> kept;
  bool found = !(c == Rational{1, 1});
  bool alone = number_left && factors.size() == 1 && !found;
  if (found) out = function_of(Fn::Log, number(c));
  for (const Atom& a : factors) {
    if (is_function(a, Fn::Exp)) {
      out = std::move(out) + *a.argument;
    } else if (!sign_of(a, context).positive()) {
      kept.push_back(a);
      continue;
    } else if (is_function(a, Fn::Recip)) {
      out = difference(std::move(out), function_of(Fn::Log, *a.argument));
    } else if (a.kind == Atom::Recip) {
      Sum n = sum_of(integer_atom(Atom::Number, a.positions[0]));
      out = difference(std::move(out), function_of(Fn::Log, std::move(n)));
    } else if (alone) {
      return std::nullopt;
    } else {
      out = std::move(out) + function_of(Fn::Log, sum_of(a));
    }
    found = true;
  }
  if (!found) return std::nullopt;
  rest = scaled(product_of(kept, {1, 1}) * rest, inverse_of(c));
  bool one = is_number(rest) && rest.products[0].coefficient == Rational{1, 1};
  return one ? out : out + function_of(Fn::Log, std::move(rest));
}

/// relu(x) is x or 0 where the sign is known; relu(c x) = c relu(x) for c that is not negative.
std::optional<Sum> rectified(const Sum& s, const Context& context) {
  if (s.products.empty()) return Sum{};
  Sign known = sign_of(s, context);
  if (known.not_negative()) return s;
  if (known.not_positive()) return Sum{};
  if (auto factor = positive_factor(s, {}, context, context))
    return factor->outside * function_of(Fn::Relu, std::move(factor->inside));
  if (s.products.size() < 2 || context.facts.empty()) return std::nullopt;
  auto [factors, rest] = common_factors(s, {}, context);
  if (factors.empty()) return std::nullopt;
  Sign other = sign_of(rest, context);
  Rational turn{other.not_negative() ? 1 : -1, 1};
  if (!other.one_sided()) return std::nullopt;
  return scaled(rest, turn) * function_of(Fn::Relu, product_of(factors, turn));
}

/// cos(-x) = cos(x).
std::optional<Sum> even(const Atom& a) {
  const Sum& x = *a.argument;
  if (x.products.empty() || leading(x).n >= 0) return std::nullopt;
  return function_of(static_cast<Fn>(a.head), scaled(x, {-1, 1}));
}

/// The largest float stands for a bound that is left out: it is none.
bool is_bound(const Real& r) {
  return r.symbol || !(std::abs(r.value) >= std::numeric_limits<float>::max());
}

Sum value_of(const Real& r) {
  if (auto n = rational_of(r)) return number(*n);
  Atom unknown;
  unknown.kind = Atom::Opaque;
  unknown.reals = {r};
  return sum_of(std::move(unknown));
}

/// A clip of a clip, where the order of the bounds is known: one clip, or a number.
std::optional<Sum> clip_of_clip(const Atom& a, const Context& context) {
  const Atom* inner = only_atom(*a.argument);
  if (!inner || inner->kind != Atom::Clip || context.laws == Laws::None) return std::nullopt;
  for (const Atom* c : {&a, inner})
    if (!is_bound(c->reals[0]) || !is_bound(c->reals[1])) return std::nullopt;
  auto at_most = [&](const Real& u, const Real& v) {
    return sign_of(merged(difference(value_of(v), value_of(u)), context), context).not_negative();
  };
  const Real &low = a.reals[0], &high = a.reals[1];
  const Real &below = inner->reals[0], &above = inner->reals[1];
  if (!at_most(low, high) || !at_most(below, above)) return std::nullopt;
  if (at_most(high, below)) return value_of(high);
  if (at_most(above, low)) return value_of(low);
  Atom r = *inner;
  if (!at_most(low, below)) r.reals[0] = low;
  if (!at_most(above, high)) r.reals[1] = high;
  bool ordered = at_most(below, r.reals[0]) && at_most(r.reals[1], above) &&
                 at_most(low, r.reals[0]) && at_most(r.reals[1], high);
  if (!ordered || !at_most(r.reals[0], r.reals[1])) return std::nullopt;
  return sum_of(std::move(r));
}

/// A clip by relu: min(max(x, low), high) = high - relu(high - low - relu(x - low)).
std::optional<Sum> bounded(const Atom& a, const Context& context) {
  bool below = is_bound(a.reals[0]), above = is_bound(a.reals[1]);
  if ((!below && a.reals[0].value > 0) || (!above && a.reals[1].value < 0)) return std::nullopt;
  if (!below && !above) return *a.argument;
  if (auto one = clip_of_clip(a, context)) return one;
  if (context.laws < Laws::Clips) return std::nullopt;
  auto minus = [](Sum s, const Sum& t) { return difference(std::move(s), t); };
  const Sum &x = *a.argument, low = value_of(a.reals[0]), high = value_of(a.reals[1]);
  if (!below) return minus(high, function_of(Fn::Relu, minus(high, x)));
  Sum raised = function_of(Fn::Relu, minus(x, low));
  if (!above) return low + raised;
  if (sign_of(minus(high, low), context).not_negative())
    return minus(low + raised, function_of(Fn::Relu, minus(x, high)));
  return minus(high, function_of(Fn::Relu, minus(minus(high, low), raised)));
}

/// f(-x) = -f(x).
std::optional<Sum> odd(const Atom& a) {
  const Sum& x = *a.argument;
  if (x.products.empty() || leading(x).n >= 0) return std::nullopt;
  return scaled(function_of(static_cast<Fn>(a.head), scaled(x, {-1, 1})), {-1, 1});
}

/// By exp.
Sum expanded(const Atom& a) {
  const Sum& x = *a.argument;
  auto minus = [](Sum s, const Sum& t) { return difference(std::move(s), t); };
  if (is_function(a, Fn::Sigmoid))
    return function_of(Fn::Recip, number({1, 1}) + function_of(Fn::Exp, scaled(x, {-1, 1})));
  Sum e = number({1, 1}) + function_of(Fn::Exp, scaled(x, {2, 1}));
  return minus(number({1, 1}), scaled(function_of(Fn::Recip, std::move(e)), {2, 1}));
}

/// The choices of n of these.
std::vector<std::vector<Var>> choices(const std::vector<Var>& all, size_t n) {
  constexpr size_t kMost = 6;
  std::vector<std::vector<Var>> found;
  if (all.size() > kMost) return found;
  for (uint32_t set = 0; set < 1u << all.size(); ++set) {
    if (static_cast<size_t>(std::popcount(set)) != n) continue;
    found.emplace_back();
    for (size_t i = 0; i < all.size(); ++i)
      if (set >> i & 1) found.back().push_back(all[i]);
  }
  return found;
}

/// A factor that is a sum over variables of the product, times 1 over that sum, is 1.
std::optional<Product> without_total(const Product& p, const Context& context) {
  for (size_t i = 0; i < p.atoms.size(); ++i) {
    const Atom& a = p.atoms[i];
    bool total = is_function(a, Fn::Recip) && a.argument->products.size() == 1 &&
                 !a.argument->products[0].bound.empty();
    if (!total) continue;
    std::vector<Var> free;
    for (Var v : p.bound)
      if (!mentions(a, v)) free.push_back(v);
    for (const auto& vs : choices(free, a.argument->products[0].bound.size())) {
      Product part, rest = p;
      part.bound = vs;
      std::erase_if(rest.bound,
                    [&](Var v) { return std::find(vs.begin(), vs.end(), v) != vs.end(); });
      rest.guard.clear();
      rest.atoms.clear();
      for (const auto& g : p.guard) (mentions_any(g, vs) ? part : rest).guard.push_back(g);
      for (size_t k = 0; k < p.atoms.size(); ++k)
        if (k != i) (mentions_any(p.atoms[k], vs) ? part : rest).atoms.push_back(p.atoms[k]);
      Context there = context.where(rest.guard);
      bool evaluated =
          not_empty(part.bound, part.guard, there) || sign_of(*a.argument, there).not_zero();
      if (evaluated && equal(single(std::move(part)), *a.argument, there)) return rest;
    }
  }
  return std::nullopt;
}

}  // namespace

/// x 1/x = 1, exp(x) exp(-x) = 1, exp(c x) exp(d x) = exp((c+d) x), sqrt(x) sqrt(x) = x,
/// relu(x) relu(x) = x relu(x), step(x) step(x) = step(x).
std::optional<Sum> combined(const Product& p, const Context& domain) {
  Context context = domain.where(p.guard);
  auto merged = [&](const Atom& a, const Atom& b) -> std::optional<Sum> {
    if (is_function(a, Fn::Recip)) {
      const Atom* x = only_atom(*a.argument);
      if (x && same_atom(*x, b, context)) return number({1, 1});
    }
    if (is_function(a, Fn::Sqrt) && same_atom(a, b, context)) return *a.argument;
    if (is_function(a, Fn::Relu) && same_atom(a, b, context)) return *a.argument * sum_of(a);
    if (is_function(a, Fn::Step) && same_atom(a, b, context)) return sum_of(a);
    bool exponents = is_function(a, Fn::Exp) && is_function(b, Fn::Exp) &&
                     a.argument->products.size() == 1 && b.argument->products.size() == 1;
    if (!exponents) return std::nullopt;
    Rational c = a.argument->products[0].coefficient, d = b.argument->products[0].coefficient;
    if (c == d || !equal(scaled(*a.argument, d), scaled(*b.argument, c), context))
      return std::nullopt;
    return function_of(Fn::Exp, scaled(*a.argument, (c + d) * inverse_of(c)));
  };
  if (auto rest = without_total(p, domain)) return single(*std::move(rest));
  for (size_t i = 0; i < p.atoms.size(); ++i)
    for (size_t j = 0; j < p.atoms.size(); ++j) {
      if (i == j) continue;
      auto value = merged(p.atoms[i], p.atoms[j]);
      if (!value) continue;
      return single(without_atoms(p, i, j)) * rename_bound(*value);
    }
  return std::nullopt;
}

Sum merged(Sum s, const Context& context) {
  auto alike = [&](const Product& p, const Product& q) {
    if (p.bound.size() != q.bound.size() || p.atoms.size() != q.atoms.size()) return false;
    if (!p.bound.empty()) {
      Product x = p, y = q;
      x.coefficient = y.coefficient = {1, 1};
      return equal(single(std::move(x)), single(std::move(y)), context);
    }
    if (!same_conditions(p.guard, q.guard)) return false;
    std::vector<Atom> left = q.atoms;
    return std::all_of(p.atoms.begin(), p.atoms.end(), [&](const Atom& a) {
      auto same = std::find_if(left.begin(), left.end(),
                               [&](const Atom& b) { return same_atom(a, b, context); });
      if (same == left.end()) return false;
      left.erase(same);
      return true;
    });
  };
  for (size_t i = 0; i < s.products.size(); ++i)
    for (size_t j = s.products.size(); --j > i;)
      if (alike(s.products[i], s.products[j])) {
        s.products[i].coefficient = s.products[i].coefficient + s.products[j].coefficient;
        drop(s.products, j);
      }
  std::erase_if(s.products, [](const Product& p) { return p.coefficient.n == 0; });
  return s;
}

}  // namespace regraft::verify

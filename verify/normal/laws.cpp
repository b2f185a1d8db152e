#include "verify/normal/laws.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <set>

#include "verify/normal/sums.h"

namespace regraft::verify {
namespace {

constexpr int64_t kMaxPower = 6;  // exp(n * x) is written as so many factors at most

Sum product_of(const std::vector<Atom>& atoms, Rational c) {
  Product p;
  p.coefficient = c;
  p.atoms = atoms;
  return single(std::move(p));
}
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

using verify::mentions_any;  // of a formula
bool mentions_any(const Atom& a, const std::vector<Var>& symbols) {
  return std::any_of(symbols.begin(), symbols.end(), [&](Var v) { return mentions(a, v); });
}
bool mentions_any(const Product& p, const std::vector<Var>& symbols) {
  Sum s = single(p);
  return std::any_of(symbols.begin(), symbols.end(), [&](Var v) { return mentions(s, v); });
}

/// The bound variables that literals of c mention, in the order in which they were made.
std::vector<Var> bound_symbols(const Conjunction& c) {
  std::set<Var, SymbolLess> found;
  for (const auto& f : c)
    for (const auto& [m, k] : f.poly.terms())
      for (Var v : m)
        if (v->kind == SymbolKind::Bound) found.insert(v);
  return {found.begin(), found.end()};
}

}  // namespace

bool Laws::equal(const Sum& a, const Sum& b, const Conjunction& context) {
  return covers_(Known{b, {}, {}, {}}, a, context);
}

bool Laws::same_atom(const Atom& a, const Atom& b, const Conjunction& context) {
  if (a.kind != b.kind || a.head != b.head || a.positions.size() != b.positions.size() ||
      a.reals.size() != b.reals.size() || !a.argument != !b.argument)
    return false;
  for (size_t i = 0; i < a.positions.size(); ++i) {
    Poly d = a.positions[i] - b.positions[i];
    if (d.is_zero()) continue;
    if (d.is_constant() || !solver_.implies(context, is_zero(d), Products::Opaque)) return false;
  }
  for (size_t i = 0; i < a.reals.size(); ++i)
    if (!same_real(a.reals[i], b.reals[i])) return false;
  if (!a.argument) return true;
  if (a.kind == Atom::Max) return equal(sum_of(a), sum_of(b), context);
  return a.argument == b.argument || equal(*a.argument, *b.argument, context);
}

std::optional<Sum> Laws::rewritten(const Atom& a, const Conjunction& context) {
  if (a.kind == Atom::Max) return maximum(a, context);
  bool by_exp = is_function(a, Fn::Sigmoid) || is_function(a, Fn::Tanh);
  if (a.kind == Atom::Clip ? expand_ != Expand::Nothing : by_exp && expand_ == Expand::All)
    return expanded(a);
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
    default:
      return function_facts(a)->odd ? odd(a) : std::nullopt;
  }
}

/// exp(x + y) = exp(x) exp(y), exp(n x) = exp(x)^n, exp(0) = 1.
std::optional<Sum> Laws::exponential(const Sum& s) {
  if (s.products.empty()) return number({1, 1});
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
std::optional<Sum> Laws::inverse(const Atom& a) {
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
std::optional<Sum> Laws::reciprocal(const Sum& s, const Conjunction& context) {
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
  Sum rest = s;
  Rational c = leading(s);
  std::vector<Atom> factors = common_factors(rest, {}, context);
  bool nothing_left = is_number(rest);
  bool canonical = c == Rational{1, 1} &&
                   (nothing_left ? factors.size() == 1 && !inverse(factors[0]) : factors.empty());
  if (canonical) return std::nullopt;
  Sum r = number(inverse_of(c));
  for (const auto& a : factors) r = r * inverse_or_recip(a);
  if (!nothing_left) r = r * function_of(Fn::Recip, scaled(rest, inverse_of(c)));
  return r;
}

/// The root of a product, of the factors that are known not to be negative.
std::optional<Sum> Laws::root(const Sum& s, const Conjunction& context) {
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
    auto drop = [&](size_t k) {
      rest.atoms.erase(rest.atoms.begin() + static_cast<std::ptrdiff_t>(k));
    };
    if (is_function(a, Fn::Exp)) {
      out = out * function_of(Fn::Exp, scaled(*a.argument, {1, 2}));
      drop(i);
      found = true;
      continue;
    }
    bool alone = rest.atoms.size() == 1 && rest.coefficient == Rational{1, 1};
    if (alone && is_function(a, Fn::Recip))
      return out * function_of(Fn::Sqrt, *a.argument) * sum_of(a);
    if (alone || !sign(a, context).not_negative()) {
      ++i;
      continue;
    }
    size_t j = i + 1;
    while (j < rest.atoms.size() && !same_atom(a, rest.atoms[j], context)) ++j;
    bool square = j < rest.atoms.size();
    if (square) drop(j);
    drop(i);
    out = out * (square ? sum_of(a) : function_of(Fn::Sqrt, sum_of(a)));
    found = true;
  }
  if (!found) return std::nullopt;
  bool one = rest.atoms.empty() && rest.coefficient == Rational{1, 1};
  return one ? out : out * function_of(Fn::Sqrt, single(rest));
}

/// Moves what is not negative of the factors, squares too, to `outside`; what is not positive too,
/// negated, when `negate` counts these.
void Laws::take_signed(std::vector<Atom>& factors, std::vector<Atom>& outside, int* negated,
                       const Conjunction& context) {
  for (size_t i = 0; i < factors.size();) {
    Sign x = sign(factors[i], context);
    size_t j = i + 1;
    while (j < factors.size() && !same_atom(factors[i], factors[j], context)) ++j;
    bool square = !x.not_negative() && j < factors.size();
    bool turned = negated && !square && x.not_positive() && !x.not_negative();
    if (!x.not_negative() && !square && !turned) {
      ++i;
      continue;
    }
    if (turned) ++*negated;
    if (square) {
      outside.push_back(factors[j]);
      factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(j));
    }
    outside.push_back(factors[i]);
    factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

/// relu(x) is x or 0 where the sign is known; relu(c x) = c relu(x) for c that is not negative.
std::optional<Sum> Laws::rectified(const Sum& s, const Conjunction& context) {
  if (s.products.empty()) return Sum{};
  Sign known = sign(s, context);
  if (known.not_negative()) return s;
  if (known.not_positive()) return Sum{};
  Sum rest = s;
  std::vector<Atom> outside, inside = common_factors(rest, {}, context);
  int negated = 0;
  take_signed(inside, outside, &negated, context);
  Rational c = absolute(leading(s)), turn{negated % 2 ? -1 : 1, 1};
  if (outside.empty() && c == Rational{1, 1}) return std::nullopt;
  Sum within = scaled(product_of(inside, {1, 1}) * rest, inverse_of(c) * turn);
  return product_of(outside, c * turn) * function_of(Fn::Relu, std::move(within));
}

/// By exp and relu. min(max(x, low), high) = high - relu(high - low - relu(x - low)).
Sum Laws::expanded(const Atom& a) {
  const Sum& x = *a.argument;
  auto real = [](const Real& r) {
    if (auto n = rational_of(r)) return number(*n);
    Atom unknown;
    unknown.kind = Atom::Opaque;
    unknown.reals = {r};
    return sum_of(std::move(unknown));
  };
  auto minus = [](Sum s, const Sum& t) { return std::move(s) + scaled(t, {-1, 1}); };
  if (a.kind == Atom::Clip) {
    Sum low = real(a.reals[0]), high = real(a.reals[1]);
    Sum above = function_of(Fn::Relu, minus(x, low));
    bool ordered = !a.reals[0].symbol && !a.reals[1].symbol && a.reals[0].value <= a.reals[1].value;
    if (ordered) return minus(low + above, function_of(Fn::Relu, minus(x, high)));
    return minus(high, function_of(Fn::Relu, minus(minus(high, low), above)));
  }
  if (is_function(a, Fn::Sigmoid))
    return function_of(Fn::Recip, number({1, 1}) + function_of(Fn::Exp, scaled(x, {-1, 1})));
  Sum e = number({1, 1}) + function_of(Fn::Exp, scaled(x, {2, 1}));
  return minus(number({1, 1}), scaled(function_of(Fn::Recip, std::move(e)), {2, 1}));
}

bool Laws::not_empty(const std::vector<Var>& bound, const Conjunction& guard,
                     const Conjunction& context) {
  if (bound.empty() && guard.empty()) return true;
  std::vector<Var> own = bound, others = bound_symbols(context);
  for (int turn = 0; turn < 2; ++turn, std::reverse(own.begin(), own.end()))
    for (size_t from = 0; from + own.size() <= others.size() && !own.empty(); ++from) {
      Substitution same;  // an element of the same range that the context speaks of
      for (size_t i = 0; i < own.size(); ++i) same[own[i]] = Poly::symbol(others[from + i]);
      Conjunction there = substitute(guard, same);
      if (std::all_of(there.begin(), there.end(),
                      [&](const Formula& f) { return plainly_implies(context, f); }))
        return true;
    }
  Substitution first;
  for (Var v : bound) first[v] = Poly(0);
  return solver_.implies(context, substitute(guard, first), Products::Opaque);
}

/// A maximum over a range that a literal of its argument cuts: max(x, y) = x + relu(y - x).
std::optional<Sum> Laws::split_maximum(const Atom& a, const Conjunction& context) {
  Conjunction within = joined(context, a.guard);
  for (const auto& p : a.argument->products)
    for (const auto& g : p.guard) {
      bool cuts =
          std::any_of(a.bound.begin(), a.bound.end(), [&](Var v) { return mentions(g, v); }) &&
          std::none_of(p.bound.begin(), p.bound.end(), [&](Var v) { return mentions(g, v); });
      if (!cuts || solver_.decides(within, g, Products::Opaque)) continue;
      Atom yes = a, no = a;
      add(yes.guard, g);
      add(no.guard, negate(g));
      if (!has_element(yes, context) || !has_element(no, context)) return std::nullopt;
      Sum x = sum_of(yes), y = sum_of(no);
      return x + function_of(Fn::Relu, y + scaled(x, {-1, 1}));
    }
  return std::nullopt;
}

/// The range of a maximum has an element: its first or, of one variable, where a cut begins.
bool Laws::has_element(const Atom& a, const Conjunction& context) {
  if (not_empty(a.bound, a.guard, context)) return true;
  if (a.bound.size() != 1) return false;
  for (const auto& g : a.guard) {
    Poly e;
    if (g.kind != Formula::NonNegative || !solve_for(g.poly, a.bound[0], e)) continue;
    if (solver_.implies(context, substitute(a.guard, {{a.bound[0], e}}), Products::Opaque))
      return true;
  }
  return false;
}

/// max(f + c) = max(f) + c, max(c f) = c max(f), max max f = max f, max(g(f)) = g(max f).
std::optional<Sum> Laws::maximum(const Atom& a, const Conjunction& context) {
  const Sum& s = *a.argument;
  Conjunction within = joined(context, a.guard);
  if (expand_ != Expand::Nothing)
    if (auto two = split_maximum(a, context)) return two;
  if (std::any_of(s.products.begin(), s.products.end(),
                  [](auto& p) { return !p.guard.empty() && p.bound.empty(); }))
    return std::nullopt;
  auto over = [&](Sum argument) {
    Atom m = a;
    m.argument = std::make_shared<Sum>(std::move(argument));
    return sum_of(std::move(m));
  };
  Sum varying, constant;
  for (const auto& p : s.products)
    (mentions_any(p, a.bound) ? varying : constant).products.push_back(p);
  bool nonempty = maxima_defined_ || has_element(a, context);
  if (varying.products.empty()) return nonempty ? std::optional(s) : std::nullopt;
  if (!constant.products.empty()) return over(varying) + constant;
  if (const Atom* inner = only_atom(s)) {
    if (inner->kind == Atom::Max) {
      Atom m = *inner;
      m.bound.insert(m.bound.end(), a.bound.begin(), a.bound.end());
      m.guard = joined(m.guard, a.guard);
      m.head = static_cast<int>(m.bound.size());
      return sum_of(std::move(m));
    }
    if (increases(*inner) && nonempty) {
      Atom f = *inner;
      f.argument = std::make_shared<Sum>(over(*inner->argument));
      return sum_of(std::move(f));
    }
  }
  if (nonempty)
    if (auto m = through_monotone(a, within)) return m;
  Sum rest = s;
  std::vector<Atom> outside, inside = common_factors(rest, a.bound, within);
  int negated = 0;
  take_signed(inside, outside, &negated, context);
  Rational c = absolute(leading(s)), turn{negated % 2 ? -1 : 1, 1};
  if (outside.empty() && c == Rational{1, 1})
    return expand_ != Expand::Nothing && nonempty ? split_rectified(a) : std::nullopt;
  Sum varied = scaled(product_of(inside, {1, 1}) * rest, inverse_of(c) * turn);
  return product_of(outside, c * turn) * over(std::move(varied));
}

std::vector<Atom> Laws::common_factors(Sum& s, const std::vector<Var>& inner,
                                       const Conjunction& context) {
  std::vector<Atom> found;
  for (size_t i = 0; i < s.products[0].atoms.size();) {
    const Atom a = s.products[0].atoms[i];
    std::vector<size_t> places;
    for (const auto& p : s.products) {
      bool free = !mentions_any(a, p.bound) && !mentions_any(a, inner);
      size_t k = 0;
      while (free && k < p.atoms.size() && !same_atom(a, p.atoms[k], context)) ++k;
      if (!free || k == p.atoms.size()) break;
      places.push_back(k);
    }
    if (places.size() < s.products.size()) {
      ++i;
      continue;
    }
    for (size_t q = 0; q < places.size(); ++q)
      s.products[q].atoms.erase(s.products[q].atoms.begin() +
                                static_cast<std::ptrdiff_t>(places[q]));
    found.push_back(a);
  }
  return found;
}

namespace {

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

}  // namespace

/// A factor that is a sum over variables of the product, times 1 over that sum, is 1.
std::optional<Product> Laws::without_total(const Product& p, const Conjunction& context) {
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
      Conjunction there = joined(context, rest.guard);
      bool evaluated =
          not_empty(part.bound, part.guard, there) || sign(*a.argument, there).not_zero();
      if (evaluated && equal(single(std::move(part)), *a.argument, there)) return rest;
    }
  }
  return std::nullopt;
}

/// x 1/x = 1, exp(x) exp(-x) = 1, exp(c x) exp(d x) = exp((c+d) x), sqrt(x) sqrt(x) = x,
/// relu(x) relu(x) = x relu(x).
std::optional<Sum> Laws::combined(const Product& p, const Conjunction& domain) {
  Conjunction context = joined(domain, p.guard);
  auto merged = [&](const Atom& a, const Atom& b) -> std::optional<Sum> {
    if (is_function(a, Fn::Recip)) {
      const Atom* x = only_atom(*a.argument);
      if (x && same_atom(*x, b, context)) return number({1, 1});
    }
    if (is_function(a, Fn::Sqrt) && same_atom(a, b, context)) return *a.argument;
    if (is_function(a, Fn::Relu) && same_atom(a, b, context)) return *a.argument * sum_of(a);
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
      Product rest = p;
      rest.atoms.erase(rest.atoms.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
      rest.atoms.erase(rest.atoms.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
      return single(std::move(rest)) * rename_bound(*value);
    }
  return std::nullopt;
}

Sum Laws::merged(Sum s, const Conjunction& context) {
  auto alike = [&](const Product& p, const Product& q) {
    if (p.bound.size() != q.bound.size() || p.atoms.size() != q.atoms.size()) return false;
    if (!p.bound.empty()) {
      Product x = p, y = q;
      x.coefficient = y.coefficient = {1, 1};
      return equal(single(std::move(x)), single(std::move(y)), context);
    }
    if (!std::equal(p.guard.begin(), p.guard.end(), q.guard.begin(), q.guard.end(),
                    [](const Formula& f, const Formula& g) { return compare(f, g) == 0; }))
      return false;
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
        s.products.erase(s.products.begin() + static_cast<std::ptrdiff_t>(j));
      }
  std::erase_if(s.products, [](const Product& p) { return p.coefficient.n == 0; });
  return s;
}

}  // namespace regraft::verify

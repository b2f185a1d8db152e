#include "verify/normal/signs.h"

#include <algorithm>

#include "verify/normal/alike.h"
#include "verify/normal/factors.h"
#include "verify/normal/laws.h"
#include "verify/normal/match.h"
#include "verify/normal/ranges.h"
#include "verify/normal/sums.h"

namespace regraft::verify {
namespace {

/// exp(x) - x > 0, times a positive number.
bool above_exponent(const Sum& s, const Context& context) {
  for (const auto& p : s.products) {
    bool e =
        bare(p) && p.atoms.size() == 1 && is_function(p.atoms[0], Fn::Exp) && p.coefficient.n > 0;
    if (!e || p.atoms[0].argument->products.size() + 1 != s.products.size()) continue;
    return equal(s,
                 sum_of(p.atoms[0]) * number(p.coefficient) +
                     scaled(*p.atoms[0].argument, p.coefficient * Rational{-1, 1}),
                 context);
  }
  return false;
}

/// Of the average of something over loops, that something, as a product whose guard says what the
/// loops run over; nullopt: it is no average, or not wherever the context holds.
std::optional<Product> averaged(Product p, const Context& context) {
  Conjunction ranges, rest = p.guard;
  for (Var v : std::exchange(p.bound, {})) {
    auto inverse = std::find_if(p.atoms.begin(), p.atoms.end(), [&](const Atom& r) {
      if (r.kind != Atom::Recip) return false;
      const Poly at = Poly::symbol(v), &length = r.positions[0];
      Conjunction range, said;
      add(range, Poly(0) <= at && at < length);
      std::copy_if(rest.begin(), rest.end(), std::back_inserter(said),
                   [&](const Formula& g) { return mentions(g, v); });
      return same_conditions(range, said) && context.implies(Poly(1) <= length);
    });
    if (inverse == p.atoms.end()) return std::nullopt;
    p.atoms.erase(inverse);
    for (const Formula& g : rest)
      if (mentions(g, v)) add(ranges, g);
    std::erase_if(rest, [&](const Formula& g) { return mentions(g, v); });
  }
  if (!context.implies(rest, Products::Opaque)) return std::nullopt;
  p.guard = std::move(ranges);
  return p;
}

/// max(f) - f(e) >= 0, times a number; also of an average of such.
Sign below_maximum(const Sum& s, const Context& context) {
  for (size_t i = 0; i < s.products.size(); ++i) {
    const Product& p = s.products[i];
    if (!bare(p) || p.atoms.size() != 1 || p.atoms[0].kind != Atom::Max) continue;
    const Atom& m = p.atoms[0];
    Sum value = s;
    drop(value.products, i);
    scale(value, inverse_of(p.coefficient) * Rational{-1, 1});
    Context within = context;
    if (value.products.size() == 1 && !value.products[0].bound.empty()) {
      if (auto one = averaged(value.products[0], context)) {
        within = context.where(std::exchange(one->guard, {}));
        value = single(*std::move(one));
      }
    }
    if (covers({*m.argument, m.bound, m.guard, {}}, value, within))
      return product(sign_of(p.coefficient), sign::kNotNegative);
  }
  return {};
}

/// One of the values of a maximum is known not to be negative.
bool above_known(const Atom& m, const Context& context) {
  return std::any_of(context.facts.begin(), context.facts.end(), [&](const Known& k) {
    return k.bound.empty() && k.guard.empty() && k.sign.not_negative() &&
           covers({*m.argument, m.bound, m.guard, {}}, k.value, context);
  });
}

/// The sign of s when it is a known value plus a number of the same sign.
Sign further(const Known& k, const Sum& s, const Context& context) {
  bool near = k.bound.empty() && k.guard.empty() &&
              s.products.size() <= k.value.products.size() + 1 &&
              k.value.products.size() <= s.products.size() + 1;
  if (!near) return {};
  Sum d = merged(s + scaled(k.value, {-1, 1}), context);
  if (d.products.size() != 1 || !bare(d.products[0]) || !d.products[0].atoms.empty()) return {};
  return sum(k.sign, sign_of(d.products[0].coefficient));
}

bool has_maximum(const Sum& s) {
  return std::ranges::any_of(s.products, [](const Product& p) {
    return std::ranges::any_of(p.atoms, [](const Atom& a) { return a.kind == Atom::Max; });
  });
}

/// What `r` says of s and what is known of it, up to a factor.
Sign with_known(Sign r, const Sum& s, const Context& context) {
  if (s.products.empty() || context.facts.empty() || context.depth.facts > 1) return r;
  Context inner = context;
  ++inner.depth.facts;
  Rational c = leading(s);
  Sum unit = scaled(s, inverse_of(c));
  for (const Known& k : context.facts) {
    Sign x = product(k.sign, sign_of(c));
    bool news = !implies(r, x) || (has_maximum(unit) && !implies(r, negated(x)));
    if (!news) continue;
    if (!covers(k, unit, inner)) {
      // Of maxima of one outline none comes first: c may have either sign.
      bool turned = has_maximum(unit) && covers(k, scaled(unit, {-1, 1}), inner);
      x = turned ? negated(x) : product(further(k, unit, inner), sign_of(c));
    }
    r = meet(r, x);
  }
  return r;
}

Sign sign_of_kind(const Atom& a, const Context& context) {
  switch (a.kind) {
    case Atom::Number:
    case Atom::Recip:
      if (context.implies(Poly(1) <= a.positions[0], Products::Opaque)) return sign::kPositive;
      return context.implies(Poly(0) <= a.positions[0], Products::Opaque) ? sign::kNotNegative
                                                                          : sign::kUnknown;
    case Atom::Clip: {
      auto of_bound = [&](const Real& r) {
        Atom bound;
        bound.kind = Atom::Opaque;
        bound.reals = {r};
        return sign_of(bound, context);
      };
      Sign x = sign_of(*a.argument, context);
      if (context.facts.empty()) return clipped(x, a.reals[0], a.reals[1]);
      return clipped(x, of_bound(a.reals[0]), of_bound(a.reals[1]));
    }
    case Atom::Max: {  // one of the values, where there is one
      Sign x = sign_of(*a.argument, context.where(a.guard));
      if (!context.maxima_defined && !has_element(a, context)) x = sign::kUnknown;
      return above_known(a, context) ? meet(x, sign::kNotNegative) : x;
    }
    case Atom::Apply: {
      auto f = static_cast<Fn>(a.head);
      bool always_positive = implies(image(f, sign::kUnknown), sign::kPositive);
      return image(f, always_positive ? sign::kUnknown : sign_of(*a.argument, context));
    }
    case Atom::Opaque: {  // a number that no rational of ours is, or a variable
      double x = a.reals[0].value;
      return a.reals[0].symbol ? sign::kUnknown : Sign{x<0, x == 0, x> 0};
    }
    case Atom::Read:
      break;
  }
  return sign::kUnknown;
}

}  // namespace

/// Each line says something of the whole sum; nothing is kept of single summands.
Sign sign_of(const Sum& s, const Context& context) {
  Sign r = sign::kZero;
  for (const auto& p : s.products) r = sum(r, sign_of(p, context));
  if (above_exponent(s, context)) r = meet(r, sign::kPositive);
  r = meet(r, below_maximum(s, context));
  if (!r.one_sided()) r = meet(r, by_range(s, context));
  r = with_known(r, s, context);
  if (r.one_sided() || context.facts.empty() || context.depth.facts > 0) return r;
  return meet(r, by_combination(s, context.facts));
}

bool not_zero(const Sum& s, const Context& context) {
  if (s.products.empty()) return false;
  if (sign_of(s, context).not_zero()) return true;
  auto [factors, rest] = common_factors(s, {}, context);
  for (const Atom& a : factors)
    if (!sign_of(a, context).not_zero()) return false;
  return is_number(rest) || sign_of(rest, context).not_zero();
}

/// The sign of the factors' product, then of as many of these as the loops make.
Sign sign_of(const Product& p, const Context& context) {
  Sign r = sign_of(p.coefficient);
  Context within = context.where(p.guard);
  std::vector<char> used(p.atoms.size(), 0);
  for (size_t i = 0; i < p.atoms.size(); ++i) {
    if (used[i]) continue;
    Sign x = sign_of(p.atoms[i], within);
    for (size_t j = i + 1; j < p.atoms.size() && !x.not_negative() && !used[i]; ++j)
      if (!used[j] && same_atom(p.atoms[i], p.atoms[j], within)) {
        used[i] = used[j] = 1;
        x = product(x, x).not_zero() ? sign::kPositive : sign::kNotNegative;
      }
    r = product(r, x);
  }
  if (bare(p)) return r;
  if (!p.bound.empty()) r = total(r);
  return not_empty(p.bound, p.guard, context) ? r : join(r, sign::kZero);
}

Sign sign_of(const Atom& a, const Context& context) {
  Sign r = sign_of_kind(a, context);
  return r.strict() ? r : with_known(r, sum_of(a), context);
}

}  // namespace regraft::verify

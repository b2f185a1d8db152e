// What is known of the signs of sums.
#include <algorithm>

#include "verify/normal/alike.h"
#include "verify/normal/sums.h"

namespace regraft::verify {

/// Each line says something of the whole sum; nothing is kept of single summands.
Sign Laws::sign(const Sum& s, const Conjunction& context) {
  Sign r = sign::kZero;
  for (const auto& p : s.products) r = sum(r, sign(p, context));
  if (above_exponent(s, context)) r = meet(r, sign::kPositive);
  r = meet(r, below_maximum(s, context));
  if (!r.one_sided()) r = meet(r, by_range(s, context));
  r = with_known(r, s, context);
  if (r.one_sided() || known_.empty() || depth_ > 0) return r;
  return meet(r, by_combination(s));
}

/// exp(x) - x > 0, times a positive number.
bool Laws::above_exponent(const Sum& s, const Conjunction& context) {
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

/// max(f) - f(e) >= 0, times a number; also of an average of such.
Sign Laws::below_maximum(const Sum& s, const Conjunction& context) {
  for (size_t i = 0; i < s.products.size(); ++i) {
    const Product& p = s.products[i];
    if (!bare(p) || p.atoms.size() != 1 || p.atoms[0].kind != Atom::Max) continue;
    const Atom& m = p.atoms[0];
    Sum value = s;
    value.products.erase(value.products.begin() + static_cast<std::ptrdiff_t>(i));
    scale(value, inverse_of(p.coefficient) * Rational{-1, 1});
    Conjunction within = context;
    if (value.products.size() == 1 && !value.products[0].bound.empty()) {
      if (auto one = averaged(value.products[0], context)) {
        within = joined(context, std::exchange(one->guard, {}));
        value = single(*std::move(one));
      }
    }
    if (covers_({*m.argument, m.bound, m.guard, {}}, value, within))
      return product(sign_of(p.coefficient), sign::kNotNegative);
  }
  return {};
}

/// One of the values of a maximum is known not to be negative.
bool Laws::above_known(const Atom& m, const Conjunction& context) {
  return std::any_of(known_.begin(), known_.end(), [&](const Known& k) {
    return k.bound.empty() && k.guard.empty() && k.sign.not_negative() &&
           covers_({*m.argument, m.bound, m.guard, {}}, k.value, context);
  });
}

/// What `r` says of s and what is known of it, up to a factor.
Sign Laws::with_known(Sign r, const Sum& s, const Conjunction& context) {
  if (s.products.empty() || known_.empty() || depth_ > 1) return r;
  ++depth_;
  Rational c = leading(s);
  Sum unit = scaled(s, inverse_of(c));
  for (const Known& k : known_) {
    Sign x = product(k.sign, sign_of(c));
    if (implies(r, x)) continue;  // no news
    if (!covers_(k, unit, context)) x = product(further(k, unit, context), sign_of(c));
    r = meet(r, x);
  }
  --depth_;
  return r;
}

/// The sign of s when it is a known value plus a number of the same sign.
Sign Laws::further(const Known& k, const Sum& s, const Conjunction& context) {
  bool near = k.bound.empty() && k.guard.empty() &&
              s.products.size() <= k.value.products.size() + 1 &&
              k.value.products.size() <= s.products.size() + 1;
  if (!near) return {};
  Sum d = merged(s + scaled(k.value, {-1, 1}), context);
  if (d.products.size() != 1 || !bare(d.products[0]) || !d.products[0].atoms.empty()) return {};
  return sum(k.sign, sign_of(d.products[0].coefficient));
}

bool Laws::not_zero(const Sum& s, const Conjunction& context) {
  if (s.products.empty()) return false;
  if (sign(s, context).not_zero()) return true;
  Sum rest = s;
  for (const Atom& a : common_factors(rest, {}, context))
    if (!sign(a, context).not_zero()) return false;
  return is_number(rest) || sign(rest, context).not_zero();
}

namespace {

/// a is the same fact as b, or a stronger one of the same value.
bool says(const Known& a, const Known& b) {
  return a.bound == b.bound && implies(a.sign, b.sign) && same_conditions(a.guard, b.guard) &&
         alike(a.value, b.value);
}

}  // namespace

void Laws::learn(const Sum& s, Sign sign, const std::vector<Var>& bound, const Conjunction& guard) {
  if (s.products.empty()) return;
  Rational c = leading(s);
  Known fact{scaled(s, inverse_of(c)), bound, guard, product(sign, sign_of(c))};
  if (std::none_of(known_.begin(), known_.end(), [&](const Known& k) { return says(k, fact); }))
    known_.push_back(std::move(fact));
  const Atom* alone = only_atom(s);
  const FnFacts* f = alone ? function_facts(*alone) : nullptr;
  if (f && f->sign == SignOf::Argument) learn(*alone->argument, sign, bound, guard);
  learn_open_factor(s, sign, bound, guard);
  if (!sign.not_zero()) return;
  Sum rest = s;
  std::vector<Atom> factors = common_factors(rest, {}, guard);
  bool number = is_number(rest);
  if (number && factors.size() < 2) factors.clear();
  for (const Atom& a : factors) known_.push_back({sum_of(a), bound, guard, sign::kNotZero});
  if (!factors.empty() && !number)
    known_.push_back({scaled(rest, inverse_of(leading(rest))), bound, guard, sign::kNotZero});
  learn_without_denominator(rest, bound, guard);
}

/// A sum that is not 0, nor is a denominator of one of its products: times that it is not 0.
void Laws::learn_without_denominator(const Sum& s, const std::vector<Var>& bound,
                                     const Conjunction& guard) {
  if (s.products.size() < 2 || !std::all_of(s.products.begin(), s.products.end(), bare)) return;
  for (const Product& p : s.products)
    for (const Atom& d : p.atoms) {
      if (!is_function(d, Fn::Recip)) continue;
      Sum cleared = without_denominator(s.products, d, [&](const Atom& a, const Product&) {
        return is_function(a, Fn::Recip) && same_atom(a, d, guard);
      });
      return learn(merged(std::move(cleared), guard), sign::kNotZero, bound, guard);
    }
}

/// Of a product the sign of the one factor that has none yet.
void Laws::learn_open_factor(const Sum& s, Sign known, const std::vector<Var>& bound,
                             const Conjunction& guard) {
  if (s.products.size() != 1 || !bare(s.products[0]) || s.products[0].atoms.size() < 2) return;
  Sign others = sign_of(s.products[0].coefficient);
  const Atom* open = nullptr;
  for (const Atom& a : s.products[0].atoms) {
    Sign x = sign(a, guard);
    if (x.strict()) {
      others = product(others, x);
      continue;
    }
    if (open) return;
    open = &a;
  }
  if (open) learn(sum_of(*open), product(known, others), bound, guard);
}

/// The sign of the factors' product, then of as many of these as the loops make.
Sign Laws::sign(const Product& p, const Conjunction& context) {
  Sign r = sign_of(p.coefficient);
  Conjunction within = joined(context, p.guard);
  std::vector<char> used(p.atoms.size(), 0);
  for (size_t i = 0; i < p.atoms.size(); ++i) {
    if (used[i]) continue;
    Sign x = sign(p.atoms[i], within);
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

Sign Laws::sign(const Atom& a, const Conjunction& context) {
  Sign r = sign_of_kind(a, context);
  return r.strict() ? r : with_known(r, sum_of(a), context);
}

Sign Laws::sign_of_kind(const Atom& a, const Conjunction& context) {
  switch (a.kind) {
    case Atom::Number:
    case Atom::Recip:
      if (solver_.implies(context, Poly(1) <= a.positions[0], Products::Opaque))
        return sign::kPositive;
      return solver_.implies(context, Poly(0) <= a.positions[0], Products::Opaque)
                 ? sign::kNotNegative
                 : sign::kUnknown;
    case Atom::Clip:
      return clipped(sign(*a.argument, context), a.reals[0], a.reals[1]);
    case Atom::Max: {  // one of the values, where there is one
      Sign x = sign(*a.argument, joined(context, a.guard));
      if (!maxima_defined_ && !has_element(a, context)) x = sign::kUnknown;
      return above_known(a, context) ? meet(x, sign::kNotNegative) : x;
    }
    case Atom::Apply: {
      auto f = static_cast<Fn>(a.head);
      bool always_positive = implies(image(f, sign::kUnknown), sign::kPositive);
      return image(f, always_positive ? sign::kUnknown : sign(*a.argument, context));
    }
    case Atom::Read:
    case Atom::Opaque:
      break;
  }
  return sign::kUnknown;
}

}  // namespace regraft::verify

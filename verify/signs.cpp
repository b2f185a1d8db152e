// What is known of the signs of sums.
#include <algorithm>

#include "verify/alike.h"
#include "verify/sums.h"

namespace regraft::verify {

Sign Laws::sign(const Sum& s, const Conjunction& context) {
  Sign r{true, true, false};
  for (const auto& p : s.products) {
    Sign x = sign(p, context);
    r.not_zero = r.not_zero || x.not_zero;
    r.not_negative = r.not_negative && x.not_negative;
    r.not_positive = r.not_positive && x.not_positive;
  }
  if (above_exponent(s, context)) r = kPositive;
  Sign x = below_maximum(s, context);
  r.not_negative = r.not_negative || x.not_negative;
  r.not_positive = r.not_positive || x.not_positive;
  if (!r.not_negative && !r.not_positive) {
    Sign y = by_range(s, context);
    if (y.not_negative || y.not_positive) r = y;
  }
  bool one = s.products.size() == 1 && s.products[0].bound.empty();
  r.not_zero = r.not_zero && (one || r.not_negative || r.not_positive);
  r = with_known(r, s, context);
  if (r.not_negative || r.not_positive || known_.empty() || depth_ > 0) return r;
  x = by_combination(s);
  return {x.not_negative, x.not_positive, r.not_zero};
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
      return {p.coefficient.n > 0, p.coefficient.n < 0, false};
  }
  return {};
}

/// One of the values of a maximum is known not to be negative.
bool Laws::above_known(const Atom& m, const Conjunction& context) {
  return std::any_of(known_.begin(), known_.end(), [&](const Known& k) {
    return k.bound.empty() && k.guard.empty() && k.sign.not_negative &&
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
    bool news = (x.not_negative && !r.not_negative) || (x.not_positive && !r.not_positive) ||
                (x.not_zero && !r.not_zero);
    if (!news) continue;
    if (!covers_(k, unit, context)) x = product(further(k, unit, context), sign_of(c));
    r.not_negative = r.not_negative || x.not_negative;
    r.not_positive = r.not_positive || x.not_positive;
    r.not_zero = r.not_zero || x.not_zero;
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
  Sign x = sign_of(d.products[0].coefficient);
  Sign both{k.sign.not_negative && x.not_negative, k.sign.not_positive && x.not_positive, false};
  both.not_zero = both.not_negative || both.not_positive;
  return both;
}

bool Laws::not_zero(const Sum& s, const Conjunction& context) {
  if (s.products.empty()) return false;
  if (sign(s, context).not_zero) return true;
  Sum rest = s;
  for (const Atom& a : common_factors(rest, {}, context))
    if (!sign(a, context).not_zero) return false;
  return is_number(rest) || sign(rest, context).not_zero;
}

namespace {

/// a is the same fact as b, or a stronger one of the same value.
bool says(const Known& a, const Known& b) {
  return a.bound == b.bound && a.sign.not_negative >= b.sign.not_negative &&
         a.sign.not_positive >= b.sign.not_positive && a.sign.not_zero >= b.sign.not_zero &&
         same_conditions(a.guard, b.guard) && alike(a.value, b.value);
}

}  // namespace

void Laws::learn(const Sum& s, Sign sign, const std::vector<Var>& bound, const Conjunction& guard) {
  if (s.products.empty()) return;
  Rational c = leading(s);
  Known fact{scaled(s, inverse_of(c)), bound, guard, product(sign, sign_of(c))};
  if (std::none_of(known_.begin(), known_.end(), [&](const Known& k) { return says(k, fact); }))
    known_.push_back(std::move(fact));
  const Atom* alone = only_atom(s);
  if (alone && (is_function(*alone, Fn::Tanh) || is_function(*alone, Fn::Erf) ||
                is_function(*alone, Fn::Recip)))
    learn(*alone->argument, sign, bound, guard);
  learn_open_factor(s, sign, bound, guard);
  if (!sign.not_zero) return;
  Sum rest = s;
  std::vector<Atom> factors = common_factors(rest, {}, guard);
  bool number = is_number(rest);
  if (number && factors.size() < 2) factors.clear();
  Sign other{false, false, true};
  for (const Atom& a : factors) known_.push_back({sum_of(a), bound, guard, other});
  if (!factors.empty() && !number)
    known_.push_back({scaled(rest, inverse_of(leading(rest))), bound, guard, other});
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
      return learn(merged(std::move(cleared), guard), {false, false, true}, bound, guard);
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
    bool clear = x.not_zero && (x.not_negative || x.not_positive);
    if (clear) others = product(others, x);
    if (!clear && open) return;
    if (!clear) open = &a;
  }
  if (open) learn(sum_of(*open), product(known, others), bound, guard);
}

Sign Laws::sign(const Product& p, const Conjunction& context) {
  Sign r = sign_of(p.coefficient);
  Conjunction within = joined(context, p.guard);
  std::vector<char> used(p.atoms.size(), 0);
  for (size_t i = 0; i < p.atoms.size(); ++i) {
    if (used[i]) continue;
    Sign x = sign(p.atoms[i], within);
    for (size_t j = i + 1; j < p.atoms.size() && !x.not_negative && !used[i]; ++j)
      if (!used[j] && same_atom(p.atoms[i], p.atoms[j], within)) {
        used[i] = used[j] = 1;
        x = {true, false, x.not_zero};
      }
    r = product(r, x);
  }
  if (!bare(p)) r.not_zero = r.not_zero && not_empty(p.bound, p.guard, context);
  return r;
}

Sign Laws::sign(const Atom& a, const Conjunction& context) {
  Sign r = sign_of_kind(a, context);
  bool all = (r.not_negative || r.not_positive) && r.not_zero;
  return all ? r : with_known(r, sum_of(a), context);
}

Sign Laws::sign_of_kind(const Atom& a, const Conjunction& context) {
  switch (a.kind) {
    case Atom::Number:
    case Atom::Recip:
      if (oracle_.implies(context, Poly(1) <= a.positions[0], Products::Opaque)) return kPositive;
      return oracle_.implies(context, Poly(0) <= a.positions[0], Products::Opaque) ? kNotNegative
                                                                                   : Sign{};
    case Atom::Clip:
      return a.reals[0].symbol || a.reals[1].symbol || a.reals[0].value < 0 || a.reals[1].value < 0
                 ? Sign{}
                 : kNotNegative;
    case Atom::Max: {
      Sign x = sign(*a.argument, joined(context, a.guard));
      if (!maxima_defined_ && !has_element(a, context)) x = {};
      x.not_negative = x.not_negative || above_known(a, context);
      return x;
    }
    case Atom::Apply:
      return sign_of_function(a, context);
    case Atom::Read:
    case Atom::Opaque:
      break;
  }
  return {};
}

Sign Laws::sign_of_function(const Atom& a, const Conjunction& context) {
  switch (static_cast<Fn>(a.head)) {
    case Fn::Exp:
    case Fn::Sigmoid:
      return kPositive;
    case Fn::Relu:
      return kNotNegative;
    case Fn::Sqrt: {
      Sign x = sign(*a.argument, context);
      return {true, false, x.not_zero && x.not_negative};
    }
    case Fn::Recip: {  // taken as defined
      Sign x = sign(*a.argument, context);
      return {x.not_negative, x.not_positive, true};
    }
    case Fn::Tanh:
    case Fn::Erf:
      return sign(*a.argument, context);
    case Fn::Clip:
      break;
  }
  return {};
}

}  // namespace regraft::verify

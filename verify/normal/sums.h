#pragma once
// Small tools for sums of products and for signs.
#include "verify/normal/laws.h"

namespace regraft::verify {

/// No bound variables and no guard.
inline bool bare(const Product& p) { return p.bound.empty() && p.guard.empty(); }
inline Rational absolute(Rational c) { return {c.n < 0 ? -c.n : c.n, c.d}; }
/// REQUIRES: c is not 0.
inline Rational inverse_of(Rational c) { return Rational::make(c.d, c.n); }
/// One product of no atoms.
inline bool is_number(const Sum& s) {
  return s.products.size() == 1 && bare(s.products[0]) && s.products[0].atoms.empty();
}
Sum single(Product p);
/// True when f mentions one of the symbols.
bool mentions_any(const Formula& f, const std::vector<Var>& symbols);
/// s times c.
void scale(Sum& s, Rational c);
Sum scaled(Sum s, Rational c);
/// The coefficient of the product that comes first in an order that does not depend on
/// coefficients, positions and bound variables. REQUIRES: s has products.
Rational leading(const Sum& s);
Conjunction joined(Conjunction a, const Conjunction& b);

/// s times what d is one over: each product loses an atom that is the same as d there, or gains the
/// denominator. REQUIRES: d is a Recip.
Sum without_denominator(const std::vector<Product>& s, const Atom& d,
                        const std::function<bool(const Atom&, const Product&)>& same);

const FnFacts* function_facts(const Atom& a);  ///< nullptr: it is not the value of a function
bool increases(const Atom& a);                 ///< weakly, in its argument: a function or a clip
/// The number that r is, when it is a multiple of 1/1024.
std::optional<Rational> rational_of(const Real& r);

inline Sign sign_of(Rational c) { return {c.n<0, c.n == 0, c.n> 0}; }

}  // namespace regraft::verify

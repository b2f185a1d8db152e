#pragma once
// Small tools for sums of products, and for what they mention.
#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "ir/algebra/symbolic.h"
#include "verify/arithmetic/sign.h"
#include "verify/arithmetic/walk.h"

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
/// s times c.
void scale(Sum& s, Rational c);
Sum scaled(Sum s, Rational c);
/// a - b; bound variables are not renamed.
Sum difference(Sum a, const Sum& b);
/// The coefficient of the product that comes first in an order that does not depend on
/// coefficients, positions and bound variables. REQUIRES: s has products.
Rational leading(const Sum& s);
/// Both, flat.
Conjunction both(Conjunction a, const Conjunction& b);

/// s times what d is one over: each product loses an atom that is the same as d there, or gains the
/// denominator. REQUIRES: d is a Recip.
Sum without_denominator(const std::vector<Product>& s, const Atom& d,
                        const std::function<bool(const Atom&, const Product&)>& same);

/// A function of a sum, as a sum of one product.
Sum function_of(Fn f, Sum x);
Sum sum_of(Atom a);
/// c times the atoms, as a sum of one product.
Sum product_of(const std::vector<Atom>& atoms, Rational c);
Sum number(Rational r);
/// The atom of kind Apply and function f that s is; nullptr when it is something else.
const Atom* only_atom(const Sum& s);
bool is_function(const Atom& a, Fn f);
/// The maximum m of another argument.
Sum maximum_of(Atom m, Sum argument);

bool mentions(const Atom& a, Var v);
bool mentions(const Product& p, Var v);
/// x, a Poly, Formula, Atom, Product or Sum, mentions one of the symbols.
template <class T>
bool mentions_any(const T& x, const std::vector<Var>& symbols) {
  return std::any_of(symbols.begin(), symbols.end(), [&](Var v) { return mentions(x, v); });
}

/// Removes element k.
template <class T>
void drop(std::vector<T>& all, size_t k) {
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(k));
}
/// p without its atom k, or without two different ones.
Product without_atom(Product p, size_t k);
Product without_atoms(Product p, size_t i, size_t j);

/// Calls body(poly) for the polynomials of a product outside the arguments of functions.
template <class Body>
void for_each_poly(const Product& p, Body&& body) {
  for (const auto& g : p.guard) for_each_poly(g, body);
  for (const auto& a : p.atoms)
    for (const auto& e : a.positions) body(e);
}

/// An atom of s, or of an argument within it, passes the test.
template <class Test>
bool any_atom(const Sum& s, Test&& test) {
  return std::any_of(s.products.begin(), s.products.end(), [&](const Product& p) {
    return std::any_of(p.atoms.begin(), p.atoms.end(), [&](const Atom& a) {
      return test(a) || (a.argument && any_atom(*a.argument, test));
    });
  });
}

inline bool one_term(const Poly& p) { return p.constant() == 0 && p.terms().size() == 1; }
inline bool one_symbol(const Poly& p) {
  return symbol_of(p) != nullptr;
}
/// An atom of kind Number or Recip.
Atom integer_atom(Atom::Kind kind, Poly p);

const FnFacts* function_facts(const Atom& a);  ///< nullptr: it is not the value of a function
bool increases(const Atom& a);                 ///< weakly, in its argument: a function or a clip
/// The number that r is, when it is a multiple of 1/1024.
std::optional<Rational> rational_of(const Real& r);

inline Sign sign_of(Rational c) { return {c.n<0, c.n == 0, c.n> 0}; }

}  // namespace regraft::verify

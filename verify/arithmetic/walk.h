#pragma once
// Walks over formulas and over polynomials with quotients in them.
#include "ir/algebra/formula.h"

namespace regraft::verify {

/// Calls body(poly) for the polynomials of a formula.
template <class Body>
void for_each_poly(const Formula& f, Body&& body) {
  body(f.poly);
  for (const auto& part : f.parts) for_each_poly(part, body);
}

/// A symbol of p passes the test, or one in the quotients and lookups among them. Ends at the
/// first.
template <class Test>
bool any_symbol(const Poly& p, Test&& test) {
  for (const auto& t : p.terms())
    for (Var v : t.monomial)
      if (test(v) ||
          (v->numerator && (any_symbol(*v->numerator, test) || any_symbol(*v->denominator, test))))
        return true;
  return false;
}

}  // namespace regraft::verify

#pragma once
// At which values of bound variables two products may be the same: guesses, by linear equations
// between positions. Whoever uses one proves it.
#include <vector>

#include "ir/algebra/symbolic.h"

namespace regraft::verify {

/// The two may be the same factor at different positions.
bool same_head(const Atom& a, const Atom& b);
/// Of two products in normal form, whose atoms are sorted.
bool same_signature(const Product& p, const Product& q);

/// What must be 0 for the atoms to be equal; of function arguments, what the hint-th pair of
/// similar products says.
std::vector<Poly> equations(const Atom& a, const Atom& b, int hint);
/// Values of the unknowns from equations, by elimination; what is not determined is left out.
Substitution solve(std::vector<Poly> equations, std::vector<Var> unknowns);
/// Those that have no value.
std::vector<Var> missing(const std::vector<Var>& all, const Substitution& s);
/// One of the values mentions one of the symbols.
bool mentions_one_of(const Substitution& s, const std::vector<Var>& symbols);

}  // namespace regraft::verify

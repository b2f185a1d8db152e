#pragma once
// Equality of formulas as they stand, but for the names of bound variables.
#include "ir/algebra/symbolic.h"

namespace regraft::verify {

bool same_conditions(const Conjunction& a, const Conjunction& b);
/// The same factors, guards and bound variables in the same order; coefficients do not count.
/// Cheap and sound, not complete.
bool alike(const Product& p, const Product& q);
/// The same products in the same order, with the same coefficients.
bool alike(const Sum& a, const Sum& b);

}  // namespace regraft::verify

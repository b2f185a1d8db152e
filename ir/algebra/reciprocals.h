#pragma once
// Many quotients for the price of one: a single inversion, and three products for each.
#include <span>

#include "ir/algebra/function.h"
#include "ir/algebra/residue.h"

namespace regraft {

/// The function that invert() is of many.
bool is_reciprocal(Fn f);
/// Replaces each by its reciprocal; 0 in a modulus has none and becomes a value that is not
/// defined.
void invert(std::span<Residue> all);

}  // namespace regraft

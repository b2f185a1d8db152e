#pragma once
// Contradictions among linear facts, found by elimination, as steps of a certificate.
#include <vector>

#include "verify/certificates/argument.h"

namespace regraft::verify {

/// A product of literals of an Argument, mostly of one.
using Product = std::vector<FactId>;

/// Closes the place where the products, each of which is not negative (or 0, where one of its
/// literals is), contradict each other over the integers, with each product of symbols as an
/// integer of its own. False: nothing was found, and nothing added.
bool close_linear(Argument& argument, Argument::Place& at, const std::vector<Product>& products);

}  // namespace regraft::verify

#pragma once
// Constants of the second model that an optimiser computed from numbers of the first one.
#include "base/parallel.h"
#include "verify/model/pair.h"

namespace regraft::verify {

/// Looks for what constants that only the second model has are: a constant expression of the first
/// one in another order, scaled by a number or along one axis; a sum or product of two vectors; an
/// affine operator's value of a vector, its shift or its scale; a product of a vector and a matrix
/// with or without an addend. What fits is added to the graph as calls of the first model that
/// nothing reads, and noted in Pair::derived: that it is the constant is still to be shown.
/// Deterministic unless `stop` ends it. An Error: a constant cannot be read.
/// REQUIRES: called once, after find_origins.
Status derive_constants(Pair& pair, const Stop& stop);

}  // namespace regraft::verify

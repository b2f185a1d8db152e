#pragma once
// Constants of the second model that the first one's data was moved into.
#include "verify/model/pair.h"

namespace regraft::verify {

/// Replaces constants that only the second model has by calls on constants of the first one: its
/// elements in another order or shape, joined, or a part of them, compared byte by byte.
/// Identity matrices of both become the operator that makes them. Deterministic. Takes time in
/// proportion to the data of both models. An Error: a constant cannot be read.
Status find_origins(Pair& pair);

}  // namespace regraft::verify

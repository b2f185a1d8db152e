#pragma once
// Constants of the second model that equal constant expressions of the first one.
#include "verify/model/sweep.h"

namespace regraft::verify {

/// Merges of constants of the second model with expressions over the first one's: those that were
/// derived, and those with close fingerprints whose difference rounding explains. An Error: a
/// constant cannot be read.
Result<std::vector<Merge>> constant_merges(const Pair& pair,
                                           const std::vector<std::vector<Fingerprint>>& prints,
                                           const Stop& stop);

}  // namespace regraft::verify

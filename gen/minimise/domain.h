#pragma once
// Shapes that a candidate names because nobody would guess them.
#include "gen/generalise/generalise.h"

namespace regraft::gen {

/// Empty when all variables have the same general shape: finding ranks is then the verifier's work,
/// but for rules of broadcast elements alone, which hold wherever some variables are scalars,
/// vectors or matrices.
/// Otherwise (scalars, biases, extents of 1) the signature itself and those like it, of other ranks
/// with batches of matrices, and with one spatial axis more or less, that hold at random shapes.
std::vector<Signature> domain_of(const Rule& rule, const Signature& signature, uint64_t seed);

}  // namespace regraft::gen

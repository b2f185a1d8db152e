#pragma once
// Horizontal merges: from concat(A, B) = R the rule {A; B} => {R split in two}.
#include "gen/generalise/generalise.h"

namespace regraft::gen {

/// The two-output rule when the left side is a concatenation of two calls that share a variable;
/// nullopt otherwise, or when it does not hold at other shapes.
std::optional<Rule> merge_of(const Rule& rule, const Signature& signature, uint64_t seed);

}  // namespace regraft::gen

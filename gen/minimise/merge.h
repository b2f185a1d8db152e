#pragma once
// Horizontal merges: from concat(A, B) = R the rule {A; B} => {R split in two}; of more likewise.
#include "gen/generalise/generalise.h"

namespace regraft::gen {

/// The rule of several outputs when the left side is a concatenation of calls each two of which
/// share a variable; nullopt otherwise, or when it does not hold at other shapes.
std::optional<Rule> merge_of(const Rule& rule, const Signature& signature, uint64_t seed);

}  // namespace regraft::gen

#pragma once
// Numbers for the symbols of a rule, chosen so that little is equal by accident.
#include "ir/rule.h"

namespace regraft::gen {

/// Sizes and attribute variables under which the left side is well-formed. Free sizes are distinct
/// and at least 2 where that is found, and small. Deterministic for a seed. nullopt: none found.
std::optional<Valuation> distinct_sizes(const RuleInstance& instance, uint64_t seed);

}  // namespace regraft::gen

#pragma once
// Numbers for the symbols of a rule, chosen so that little is equal by accident.
#include "gen/generalise/space.h"
#include "ir/rule/rule.h"

namespace regraft::gen {

/// All symbols of an instance: sizes with their axes, then those of attributes.
std::vector<SpaceSymbol> symbols_of(const RuleInstance& instance);

/// Sizes and attribute variables under which the left side is well-formed. Free sizes are distinct
/// and all are at least 2 where that is found, and small. Deterministic for a seed. nullopt: none
/// found. Throws PolyOverflow.
std::optional<Valuation> distinct_sizes(const RuleInstance& instance, uint64_t seed);

/// Adds numbers for the real variables that are as the instance's conditions say, where it has any;
/// false: none were found.
bool draw_reals(const RuleInstance& instance, Valuation& values, Rng& rng);

}  // namespace regraft::gen

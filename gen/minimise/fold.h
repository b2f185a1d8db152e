#pragma once
// Families (ir/rule/family.h) that rules are members of: what differs between rules, in axes,
// permutations, ranks and masks of broadcast axes only, becomes variables and expressions of them.
// Source: anti-unification (Plotkin 1970).
#include <vector>

#include "ir/rule/rule.h"

namespace regraft::gen {

/// Families, each of at least two of the rules, that hold at random members that are none of the
/// rules. They are candidates: a family says more than the rules that it was made from. Most
/// general ones come first. Deterministic.
std::vector<Rule> families_of(const std::vector<Rule>& rules);

/// What the rules say that no family does: each rule at the signatures, and in the directions, that
/// are left. A family counts only where its numerics are no worse than the rule's.
std::vector<Rule> beyond(const std::vector<Rule>& rules, const std::vector<Rule>& families);

}  // namespace regraft::gen

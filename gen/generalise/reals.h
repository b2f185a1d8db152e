#pragma once
// Real attributes of a rule become variables.
#include "ir/rule/rule.h"

namespace regraft::gen {

/// The rule with as many variables in place of real attribute numbers as hold at random shapes,
/// attributes and numbers of either sign. A variable stands for one number of the left side, or for
/// all that are equal, and for some, all or none of those on the right that are equal to it.
/// REQUIRES: the rule holds at the signature. Deterministic for a seed.
Rule open_reals(Rule rule, const Signature& signature, uint64_t seed);

}  // namespace regraft::gen

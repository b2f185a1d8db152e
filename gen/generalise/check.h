#pragma once
// Does a rule hold at shapes and attributes that it was not found at?
#include "ir/rule/rule.h"

namespace regraft::gen {

/// Numeric evidence for a rule at one signature.
enum class Evidence : uint8_t {
  Holds,     ///< equal at every sampled assignment on which the left side is well-formed
  Fails,     ///< a sampled assignment gives other values, or the right side is not well-formed
  Unusable,  ///< no rule at this signature, or too few assignments found
};

/// Evaluates both sides over Field, whose doubles decide where its residues are guessed, at
/// `trials` random assignments of sizes and attribute variables that satisfy the left side; with
/// more than one trial every free symbol takes at least two values. A trial is one point of the
/// order: sides that differ only elsewhere hold, so one trial is a filter, not evidence.
/// Deterministic for a seed. With Where::RightSideIs, assignments at which the right side is not
/// well-formed are left out.
enum class Where : uint8_t { LeftSideIs, RightSideIs };
Evidence check(const Rule& rule, const Signature& signature, uint64_t seed, int trials,
               Where where = Where::LeftSideIs);

}  // namespace regraft::gen

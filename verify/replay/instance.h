#pragma once
// A rule at one signature, with what is assumed of its sizes.
#include "ir/rule/rule.h"
#include "verify/replay/element_types.h"

namespace regraft::verify {

enum class Assume : uint8_t {
  LeftSide,   ///< what the left side requires: a rule must hold wherever it matches
  BothSides,  ///< that the right side can be built as well: a matcher that looks at that
};

/// instantiate(), with the right side's requirements among the assumptions where that is asked for.
inline Result<RuleInstance> instance_at(const Rule& rule, const Signature& signature,
                                        Assume assume) {
  ASSIGN_OR_RETURN(RuleInstance r, instantiate(rule, signature));
  if (std::string wrong = wrong_types(r); !wrong.empty()) return error(wrong);
  if (assume == Assume::BothSides)
    for (const Formula& f : r.requires_rhs) add(r.requires_lhs, f);
  if (plainly_false(r.requires_lhs)) return error("no sizes fit both sides");
  return r;
}

}  // namespace regraft::verify

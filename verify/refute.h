#pragma once
// The numeric check: both sides at concrete sizes, exactly, over a field.
#include <optional>
#include <string>

#include "verify/sampling.h"

namespace regraft::verify {

struct FieldCheck {
  int trials = 0;  ///< sizes at which both sides were compared; 0: untested
  std::optional<std::string> counterexample;  ///< sizes, output, position and seed
};

/// Evaluates both sides on random inputs. Two sides that differ as formulas agree by chance with
/// probability below 1e-5 in each trial (ir/concrete.h). A right side that is ill formed where
/// the left is not counts as a difference.
FieldCheck check_in_field(const RuleInstance& instance, const std::vector<Valuation>& sizes,
                          uint64_t seed);

}  // namespace regraft::verify

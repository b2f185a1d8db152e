#pragma once
// The numeric check: both sides at concrete sizes, over a field and over doubles.
#include <optional>
#include <string>

#include "verify/sampling.h"

namespace regraft::verify {

struct NumericCheck {
  int trials = 0;  ///< sizes at which both sides were compared; 0: untested
  std::optional<std::string>
      counterexample;  ///< the real numbers differ: sizes, output, position, seed
  std::optional<std::string>
      suspicion;  ///< only the formulas differ: functions in them are opaque there
};

/// Evaluates both sides on random inputs at each of the sizes: exactly over a field, where sides
/// that differ as formulas agree by chance with probability below 1e-5 in each trial
/// (ir/concrete.h), and over doubles, which know what the functions are. A difference of shapes, or
/// of numbers beyond 1e-6 relative, or a right side that is ill formed or not a number where the
/// left is, refutes.
NumericCheck check_numbers(const RuleInstance& instance, const std::vector<Valuation>& sizes,
                           uint64_t seed);

}  // namespace regraft::verify

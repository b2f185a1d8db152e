#pragma once
// The numeric check: both sides at concrete sizes, over a field and over doubles.
#include <optional>
#include <string>

#include "verify/refute/counterexample.h"

namespace regraft::verify {

struct NumericCheck {
  int trials = 0;  ///< sizes at which both sides were compared; 0: untested
  std::optional<Counterexample> counterexample;  ///< the real numbers differ
  std::optional<std::string>
      suspicion;  ///< only over the field: functions in the formulas know fewer laws there
};

/// What a counterexample is for.
enum class Counterexamples : uint8_t {
  Any,    ///< it is enough to know that there is one
  Small,  ///< to be read: with sizes and inputs as small as a bounded search finds
};

/// Whether a difference over the field alone is looked for, which is of interest where nothing is
/// proved. It makes no difference to the counterexample.
enum class Suspicions : uint8_t { Found, LeftOut };

/// Evaluates both sides on random inputs at each of the sizes: over doubles, and exactly over
/// a field (see Field in ir/algebra/concrete.h). A difference of shapes, or of doubles beyond 1e-6
/// relative, or a right side that is ill formed or not a number where the left is, refutes, and the
/// counterexample is then made small if that is wanted (large inputs, whose rounding errors are
/// large as well, must differ over the field too); a difference over the field alone does not.
NumericCheck check_numbers(const RuleInstance& instance, const std::vector<Valuation>& sizes,
                           uint64_t seed, Counterexamples wanted = Counterexamples::Small,
                           Suspicions suspicions = Suspicions::Found);

}  // namespace regraft::verify

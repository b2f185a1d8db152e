#pragma once
// What a proved rule does in floating point: the verdict beside the proof.
#include "ir/rule/rule.h"

namespace regraft::verify {

/// Numerics of a rule, and on what they rest.
struct NumericsReport {
  NumericVerdict forward, backward;  ///< backward: of a reversible rule
  /// At the sizes looked at intervals show that nothing fails on the right (the left) that does not
  /// fail on the other side; false: it was only looked for.
  bool forward_range_proved = false, backward_range_proved = false;
  uint64_t samples = 0;              ///< elements compared with their exact values
  uint64_t multiprecision_runs = 0;  ///< of these, how many took MPFR
  double milliseconds = 0;           ///< of its thread's CPU
};

/// Judges a proved rule at some of its shapes. The sides are compared as OpDef::fill_float says
/// that runtimes compute them, in float32 and in float16, with the real values:
///   exact         the same operations in the same order, at all shapes looked at
///   rounding      for inputs up to 1e4 (float16: 1e2) what is finite before is finite after, no
///                 step on the way fails; and the error, in bits, is at most 2 larger on the mean
///                 and 8 at the 99.9th percentile, over the stresses of verify/numerics/points.h
///   rounding-f32  that, in float32 only
///   unsafe        a witness says otherwise
///   unknown       no shape could be looked at
/// Deterministic for a given rule and seed; a rule named "..~" has the verdict of its reverse's
/// other direction.
NumericsReport judge_numerics(const Rule& rule, uint64_t seed);
/// The same of one instance, from left to right. Where sizes that are numbers in it are too large
/// for each step to be looked at, it is judged with small ones in their place (small_sizes.h).
NumericsReport judge_numerics(const RuleInstance& instance, uint64_t seed);

}  // namespace regraft::verify

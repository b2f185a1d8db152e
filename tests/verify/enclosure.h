#pragma once
// What is true of a rule at given numbers, found without the prover: both sides in interval
// arithmetic over long doubles, with definedness as docs/proofs.md has it. Interval arithmetic
// (Moore, "Interval Analysis", 1966) never mistakes a rounding error for a difference.
#include <optional>
#include <string>

#include "verify/refute/counterexample.h"

namespace regraft::verify {

/// Whether what a value is made of is defined: no 1/0, no root of a negative number, no maximum of
/// nothing, however it is used afterwards.
enum class Defined : uint8_t { Yes, Maybe, No };

/// A real number between two others; and its image in a prime field, which tells exact zeros (up to
/// a chance of 2^-60) where an interval cannot.
struct Enclosed {
  long double low = 0, high = 0;
  Residue image;
  Defined defined = Defined::Yes;
};
Enclosed enclosed(double x);

/// Both sides differ for certain: the right side is ill formed or of another shape, or at an
/// element that is defined on the left it is not defined, or its interval is apart from the left
/// one's. nullopt: no difference is certain (nor that there is none), or the left side is ill
/// formed.
std::optional<std::string> certain_difference(const RuleInstance& instance, const Valuation& sizes,
                                              const Inputs& inputs);

}  // namespace regraft::verify

#pragma once
// Attributes become variables or expressions in sizes as far as the rule still holds elsewhere.
#include "gen/check.h"
#include "gen/general.h"

namespace regraft::gen {

/// A directed candidate.
struct Generalised {
  GeneralPair pair;
  Rule rule;
  Signature signature;  ///< at which it was checked
};

constexpr int kShapes = 4;  ///< other shapes that a candidate must hold at

/// lhs => rhs in the most general form that holds at kShapes random shapes; nullopt when not even
/// the form with the witness' numbers does. REQUIRES: leaves of rhs occur in lhs, lhs is a call.
std::optional<Generalised> generalise(const Bank& bank, TermId lhs, TermId rhs, uint64_t seed);

}  // namespace regraft::gen

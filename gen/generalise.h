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
  int closed = 0;       ///< attributes of the left side that stayed numbers
};

constexpr int kShapes = 8;       ///< random shapes at which a form is tried
constexpr int kManyShapes = 40;  ///< random shapes at which a candidate must hold

/// lhs => rhs in its most general form that holds at kManyShapes random shapes. A second form is
/// added when it frees more attributes for 1x1 kernels. Empty when the equality is false at other
/// shapes. REQUIRES: leaves of rhs occur in lhs, lhs is a call.
std::vector<Generalised> generalise(const Bank& bank, TermId lhs, TermId rhs, uint64_t seed);

}  // namespace regraft::gen

#pragma once
// Attributes, integer and real, become variables or expressions in sizes as far as the rule still
// holds elsewhere.
#include "gen/generalise/check.h"
#include "gen/generalise/term_template.h"

namespace regraft::gen {

/// A directed candidate.
struct Generalised {
  TemplatePair pair;
  Rule rule;
  Signature signature;  ///< at which it was checked
  int closed = 0;       ///< attributes of the left side that stayed numbers
};

constexpr uint64_t kShapeSeed = 20;  ///< of the shapes that are tried: one stream for all runs
constexpr int kShapes = 8;           ///< random shapes at which a step is tried
constexpr int kManyShapes = 40;      ///< random shapes at which a candidate must hold

/// lhs => rhs in its most general forms that hold at kManyShapes random shapes, with the weakest
/// conditions found: at most two, neither a special case of the other. Extents of kernels
/// (Bank::is_kernel) and those that are 1 may end up fixed; when others would have to, the equality
/// is taken for a coincidence of the witness and the result is empty.
/// REQUIRES: leaves of rhs occur in lhs, lhs is a call. Several threads may use one Bank.
std::vector<Generalised> generalise(const Bank& bank, TermId lhs, TermId rhs, uint64_t seed);

}  // namespace regraft::gen

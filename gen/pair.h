#pragma once
// From raw pairs to few: renaming, shared parts, what follows from equal parts.
#include "gen/terms.h"

namespace regraft::gen {

struct PairCounts {
  uint64_t raw = 0;
  uint64_t trivial = 0;          ///< equal up to commuted operands
  uint64_t renaming = 0;         ///< another pair up to names of variables
  uint64_t common_subgraph = 0;  ///< equal parts under the same operator
};

/// Pairs that are left, smallest first and the more general of equal size first. Sub-terms that
/// both sides share and that may be anything become variables.
std::vector<Pair> reduce_pairs(Bank& bank, const std::vector<Pair>& raw, PairCounts& counts);

/// The pair with shared sub-terms replaced by fresh variables where it still holds.
Pair without_common_subterms(Bank& bank, Pair p);
/// Both sides are the same operator on operands that are equal in pairs.
bool follows_by_congruence(Bank& bank, Pair p);

}  // namespace regraft::gen

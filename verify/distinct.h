#pragma once
// Which candidates are worth looking at.
#include <optional>
#include <span>
#include <vector>

#include "ir/rule.h"

namespace regraft::verify {

/// Candidates without repetition, in their order.
struct Distinct {
  std::vector<Rule> rules;
  std::vector<std::optional<size_t>> places;  ///< of each candidate in `rules`; nullopt: trivial
  uint64_t duplicates = 0;  ///< equal to an earlier one up to names and order, or a direction of it
  uint64_t trivial = 0;     ///< with equal sides
  uint64_t joined = 0;      ///< a directed rule and its reverse, now one reversible rule
};

/// Rules that are not valid are kept as they stand. A joined rule has the name of the earlier one
/// and the signatures of both.
Distinct distinct_rules(std::span<const Rule> candidates);

}  // namespace regraft::verify

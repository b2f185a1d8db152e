#pragma once
// Which candidates are worth looking at, and which verdicts one rule can state together.
#include <optional>
#include <span>
#include <vector>

#include "ir/rule/rule.h"

namespace regraft::verify {

/// Candidates without repetition, in their order.
struct Distinct {
  std::vector<Rule> rules;
  std::vector<std::optional<size_t>> places;  ///< of each candidate in `rules`; nullopt: trivial
  uint64_t duplicates = 0;                    ///< the same as an earlier one
  uint64_t trivial = 0;                       ///< with equal sides
};

/// Two candidates are the same when they have, up to names and order, the same sides, direction,
/// conditions and signatures: then, and only then, they have one verdict. Rules that are not valid
/// are kept as they stand.
Distinct distinct_rules(std::span<const Rule> candidates);

/// Rules after judging, those proved for all sizes joined where one rule says what two do.
struct Joined {
  std::vector<Rule> rules;
  std::vector<size_t> places;  ///< of each rule given, in `rules`
};

/// Of two rules of the same sides and conditions in one direction the earlier gets the signatures
/// of both. A rule and its reverse that are proved at the same signatures are one reversible rule,
/// under the name of the earlier one. Nothing else is joined, and no signature is lost.
Joined join_proved(std::span<const Rule> rules);

}  // namespace regraft::verify

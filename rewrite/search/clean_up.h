#pragma once
// What never costs: fewer calls, at no higher price.
#include "rewrite/search/searcher.h"

namespace regraft::rewrite {

/// How much more than the original a graph with fewer calls may be priced at: less than prices say.
inline constexpr double kCleanUpTolerance = 0.005;

/// Applies rules that leave fewer calls and cost no more, as long as one does: of those the one
/// that removes most. Moves that cancel, and calls that do nothing, vanish so.
class CleanUp final : public Searcher {
 public:
  SearchReport search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                      const SearchOptions& options, const Stop& stop) const override;
};

}  // namespace regraft::rewrite

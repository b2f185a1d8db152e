#pragma once
// Cost-based backtracking search over whole graphs (Jia et al., "TASO", SOSP 2019, section 5).
#include "rewrite/searcher.h"

namespace regraft::rewrite {

/// Takes the cheapest graph from a queue, tries every match of every rule, and keeps each new graph
/// that costs less than alpha times the best. alpha > 1 lets it go uphill for a while. Improving
/// matches of one graph are also tried all together, so that a large graph does not need an
/// expansion for each.
class Backtracking final : public Searcher {
 public:
  SearchReport search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                      const SearchOptions& options, const Stop& stop) const override;
};

}  // namespace regraft::rewrite

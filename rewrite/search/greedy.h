#pragma once
// Greedy descent.
#include "rewrite/search/searcher.h"

namespace regraft::rewrite {

/// Applies the match that saves most as long as one saves. alpha is unused.
class Greedy final : public Searcher {
 public:
  SearchReport search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                      const SearchOptions& options, const Stop& stop) const override;
};

}  // namespace regraft::rewrite

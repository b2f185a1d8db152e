#pragma once
// Greedy descent.
#include "rewrite/searcher.h"

namespace regraft::rewrite {

/// In rounds: lists the matches, applies those that save, the largest saving first, as long as they
/// still apply and still save. Ends when a round saves nothing. alpha is unused.
class Greedy final : public Searcher {
 public:
  SearchReport search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                      const SearchOptions& options, const Stop& stop) const override;
};

}  // namespace regraft::rewrite

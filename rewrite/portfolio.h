#pragma once
// Several searchers that share what they find.
#include "rewrite/search/searcher.h"

namespace regraft::rewrite {

/// In rounds: each member starts from the best graph so far, on a share of the budget; the cheapest
/// of their results is where the next round starts. Members of a round run on up to `threads`
/// threads; the result does not depend on how many.
class Portfolio final : public Searcher {
 public:
  SearchReport search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                      const SearchOptions& options, const Stop& stop) const override;
};

}  // namespace regraft::rewrite

#pragma once
// Several searchers that share what they find.
#include "rewrite/search/searcher.h"

namespace regraft::rewrite {

/// Saturation and windows in turn, each from the best graph so far, until neither finds a cheaper
/// one. A member gets half of what is left of the budget and of the time. Windows find what lies
/// far apart in a large graph, e-graphs what several rules together make of a small one; each finds
/// more where the other one was. Ends by itself.
class Portfolio final : public Searcher {
 public:
  SearchReport search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                      const SearchOptions& options, const Stop& stop) const override;
};

}  // namespace regraft::rewrite

#pragma once
// Best-first search in one neighbourhood after the other.
#include "rewrite/searcher.h"

namespace regraft::rewrite {

/// Goes downhill first. A window is the neighbourhood of a node; inside it the cheapest graphs are
/// expanded, uphill too, and the best one is kept if it costs less. What changed is looked at
/// again. A window that is like one that did not pay is left out, so that repeated layers are
/// searched once. When no window pays any more, windows grow and get more expansions, up to kLevels
/// times. Effort grows with the size of the graph, not with the number of combinations of its
/// parts. Windows are searched apart from the graph, several at a time on `threads`; the answer
/// does not depend on how many. alpha is unused; `seed` orders the windows.
class Windows final : public Searcher {
 public:
  SearchReport search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                      const SearchOptions& options, const Stop& stop) const override;
};

}  // namespace regraft::rewrite

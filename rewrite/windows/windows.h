#pragma once
// Best-first search in one neighbourhood after the other.
#include <functional>
#include <span>

#include "rewrite/engine/engine.h"
#include "rewrite/search/searcher.h"

namespace regraft::rewrite {

/// Scores of nodes, which are the centres of windows: the higher, the earlier; not at all when it
/// is minus infinity, unless something near it changes. Of the same score in random order. May be
/// called from several threads, for several searches.
using WindowOrder =
    std::function<std::vector<double>(const Engine&, std::span<const int32_t> centres)>;

/// Goes downhill first. A window is the neighbourhood of a node; inside it the cheapest graphs are
/// expanded, uphill too, and the best one is kept if it costs less. What changed is looked at
/// again. A window that is like one that did not pay is left out, so that repeated layers are
/// searched once. When no window pays any more, windows grow and get more expansions, up to kLevels
/// times. Effort grows with the size of the graph, not with the number of combinations of its
/// parts. Windows are searched apart from the graph, several at a time on `threads`; the answer
/// does not depend on how many. alpha is unused; `seed` orders the windows, but for an order that
/// is given, which is asked whenever windows grow.
class Windows final : public Searcher {
 public:
  explicit Windows(WindowOrder order = {}) : order_(std::move(order)) {}
  SearchReport search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                      const SearchOptions& options, const Stop& stop) const override;

 private:
  WindowOrder order_;
};

}  // namespace regraft::rewrite

#pragma once
// The baseline: TASO's search as it was published and released.
#include "rewrite/search/searcher.h"

namespace regraft::rewrite {

/// Jia et al., "TASO", SOSP 2019, algorithm 2, with the limits of its release: a queue of whole
/// graphs without a bound; each match of the cheapest one makes a complete new graph, which is
/// costed and hashed from nothing and kept when it costs less than alpha times the best, has less
/// than max_growth times the calls of the original, and was not seen. The best graph is found when
/// it is taken out of the queue. Only the matching is ours.
class TasoSearch final : public Searcher {
 public:
  SearchReport search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                      const SearchOptions& options, const Stop& stop) const override;
};

}  // namespace regraft::rewrite

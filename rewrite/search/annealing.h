#pragma once
// Simulated annealing.
#include "rewrite/search/searcher.h"

namespace regraft::rewrite {

/// Goes downhill first. Then in rounds, each from the best graph: random matches are made or not as
/// Metropolis says, at a temperature that falls from half of what uphill moves cost on average to a
/// hundredth of it. Runs until its budget or time is spent, unless there is no match at all. alpha
/// is unused.
class Annealing final : public Searcher {
 public:
  SearchReport search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                      const SearchOptions& options, const Stop& stop) const override;
};

}  // namespace regraft::rewrite

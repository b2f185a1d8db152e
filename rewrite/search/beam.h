#pragma once
// Beam search.
#include "rewrite/search/searcher.h"

namespace regraft::rewrite {

/// Starts where greedy descent ends. Of all successors of the graphs of one level, the kWidth
/// cheapest distinct ones that cost less than alpha times the best are the next level. Ends when a
/// level is empty, or none of kPatience levels has improved.
class Beam final : public Searcher {
 public:
  static constexpr size_t kWidth = 32;
  static constexpr int kPatience = 12;
  SearchReport search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                      const SearchOptions& options, const Stop& stop) const override;
};

}  // namespace regraft::rewrite

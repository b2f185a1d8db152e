#pragma once
// Cost-based backtracking search (Jia et al., "TASO", SOSP 2019, section 5).
#include "rewrite/search/searcher.h"

namespace regraft::rewrite {

/// Starts from the original graph and from where greedy descent ends. Takes the cheapest graph from
/// a queue, looks at every match, and keeps each successor that costs less than alpha times the
/// best. alpha > 1 lets it go uphill for a while. A graph is known by the moves that lead to it, so
/// that the queue is small; it is compared with those seen before when it is taken out.
class Backtracking final : public Searcher {
 public:
  /// `partial_order_reduction`: of two orders of moves that do not touch each other only one is
  /// followed, the one that saves first, so that no graph on the way costs more than on the other.
  explicit Backtracking(bool partial_order_reduction = false)
      : partial_order_reduction_(partial_order_reduction) {}
  SearchReport search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                      const SearchOptions& options, const Stop& stop) const override;

 private:
  bool partial_order_reduction_;
};

}  // namespace regraft::rewrite

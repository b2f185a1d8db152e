#pragma once
// What searchers share that move one graph about: the moves that are final, and those since.
#include "base/rng.h"
#include "rewrite/search/reporter.h"

namespace regraft::rewrite {

/// An engine whose first moves are final, with the limits of a search.
class Walk {
 public:
  Walk(std::string_view searcher, const Graph& g, const RuleIndex& rules,
       const cost::CostModel& model, const SearchOptions& options, const Stop& stop);
  const Reporter::Clock::time_point start = Reporter::Clock::now();
  Engine engine;
  Reporter reporter;
  Rng rng;

  /// The graph would not have too many calls.
  bool admits(const Match& m) const {
    return static_cast<double>(engine.calls() + m.growth) <= max_calls_;
  }
  double max_calls() const { return max_calls_; }
  /// Downhill, see reporter.h.
  StopReason descend() { return rewrite::descend(engine, reporter, moves_.size()); }
  /// Offers the moves since the last call in turn and makes them final.
  void keep();
  /// Goes back to the first `depth` moves since `keep`, and makes them final.
  void keep_first(size_t depth);
  /// A random match that is admitted, counted as a candidate; -1: none was found.
  int32_t random_match();
  /// REQUIRES: all moves are final.
  SearchReport finish(StopReason reason) &&;

 private:
  double max_calls_;
  std::vector<Move> moves_;
};

}  // namespace regraft::rewrite

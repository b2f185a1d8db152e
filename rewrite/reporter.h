#pragma once
// What searchers share: the clock, the best so far, the report.
#include <chrono>

#include "rewrite/engine.h"
#include "rewrite/searcher.h"

namespace regraft::rewrite {

/// Differences below this part of the cost are rounding.
constexpr double kRelativeRounding = 1e-9;
inline bool cheaper(double a, double b) { return a < b - kRelativeRounding * b; }

/// Set when the work must end now.
std::optional<StopReason> stopped(const Stop& stop);

/// Keeps a report and its clock. The way to the best graph is the searcher's to remember.
class Reporter {
 public:
  Reporter(double cost, const RuleIndex& rules);
  SearchReport report;
  double best() const { return best_; }
  /// True when this is cheaper than the best so far, which it is from now on. `depth`: rules
  /// applied to the original, `rule` the last of them.
  bool offer(double cost, int32_t rule, size_t depth);
  /// `moves` lead from the original to `best`.
  SearchReport finish(StopReason reason, const std::vector<Move>& moves, Graph best) &&;

 private:
  double seconds() const;
  const RuleIndex& rules_;
  double best_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Does a move that was made from the same graph before. REQUIRES: it applies.
void redo(Engine& engine, const Move& move);

/// Applies the match that saves most, again and again, while one saves and `go_on` is true; ties go
/// to the lowest rule and nodes. Returns whether a match that saves is left.
bool descend(Engine& engine, const std::function<bool()>& go_on);

}  // namespace regraft::rewrite

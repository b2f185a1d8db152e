#pragma once
// What searchers share: the clock, the best so far, the report.
#include <chrono>

#include "rewrite/engine/engine.h"
#include "rewrite/search/searcher.h"

namespace regraft::rewrite {

/// Differences below this part of the cost are rounding.
constexpr double kRelativeRounding = 1e-9;
inline bool cheaper(double a, double b) { return a < b - kRelativeRounding * b; }

/// Keeps a report, its clock and the limits. The way to the best graph is the searcher's to
/// remember.
class Reporter {
 public:
  using Clock = std::chrono::steady_clock;
  /// `cost` of the original; `start`: before anything was done. Options and stop outlive this.
  Reporter(std::string_view searcher, double cost, const RuleIndex& rules,
           const SearchOptions& options, const Stop& stop, Clock::time_point start);
  SearchReport report;
  double best() const { return best_; }
  /// Counts candidates, at most as many as the budget allows.
  void look(uint64_t candidates);
  bool out_of_budget() const { return report.candidates >= options_.budget; }
  /// Set when the work must end now.
  std::optional<StopReason> over() const;
  /// True when this is cheaper than the best so far, which it is from now on. `depth`: rules
  /// applied to the original, `rule` the last of them.
  bool offer(double cost, int32_t rule, size_t depth);
  /// `moves` lead from the original to `best`.
  SearchReport finish(StopReason reason, const std::vector<Move>& moves, Graph best) &&;

 private:
  double seconds() const;
  const RuleIndex& rules_;
  const SearchOptions& options_;
  const Stop& stop_;
  double best_;
  Progress progress_;
  Clock::time_point start_;
};

/// Adds what the second of two searches in a row looked at.
void add_counts(SearchReport& total, const SearchReport& next);
/// Adds what happened after `total` ended, `seconds_before` after the start.
void append(SearchReport& total, SearchReport&& next, double seconds_before);

/// Does a move that was made from the same graph before. REQUIRES: it applies.
void redo(Engine& engine, const Move& move);

/// a saves more than b; of two that save the same the order is by rule and place.
bool comes_first(const Match& a, const Match& b);

/// Applies the match that saves most (of several the first by rule and place), again and again,
/// until none saves or the reporter says that it is over, counting what is priced as candidates and
/// offering each step. Learnt rules are applied only where no other saves: they were learnt of what
/// is left there. Returns why it ended. `before`: moves before those that the engine remembers;
/// `priced`: what of Engine::priced() is counted already.
StopReason descend(Engine& engine, Reporter& reporter, size_t before = 0, uint64_t priced = 0);

}  // namespace regraft::rewrite

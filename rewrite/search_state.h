#pragma once
// What searchers share: graphs with their cost, identity and history, and their successors.
#include <chrono>

#include "rewrite/match.h"
#include "rewrite/searcher.h"

namespace regraft::rewrite {

/// The rules that led to a graph, newest first, and where each was applied.
struct Step {
  std::shared_ptr<const Step> before;
  int rule = 0;
  std::vector<int32_t> nodes;
  std::vector<Value> variables;
};

/// Identity of a graph: two independent 64-bit digests of what its nodes compute. Equal for graphs
/// that are equal up to ids, order and commuted operands.
struct Identity {
  uint64_t outputs = 0, nodes = 0;
  auto operator<=>(const Identity&) const = default;
};
Identity identity(const Graph& g);

struct State {
  Graph graph;
  double cost = 0;
  Identity id;
  std::shared_ptr<const Step> path;
};

/// Differences below this part of the cost are rounding.
constexpr double kRelativeRounding = 1e-9;
inline bool cheaper(double a, double b) { return a < b - kRelativeRounding * b; }

/// The graphs behind matches[0 .. n-1] whose predicted cost is below `limit`, in order; built on
/// `threads` threads. The same for any number of threads.
std::vector<State> successors(const GraphView& view, const State& from,
                              const std::vector<Match>& matches, double limit,
                              const cost::CostModel& model, int threads);

/// A graph after several matches at once, and how many candidates that took.
struct Descent {
  State state;
  uint64_t candidates = 0;
};
/// Applies the improving ones of `matches` one after the other, those that save most first, each
/// looked up anew in the graph that the others left, with at most `budget` look-ups. nullopt when
/// none improves. Matches far apart thus need no expansion each.
std::optional<Descent> descend(const GraphView& view, const State& from,
                               const std::vector<Match>& matches, const RuleIndex& rules,
                               const cost::CostModel& model, const PlanOptions& options,
                               uint64_t budget);

/// Names of the rules from the original graph on.
std::vector<std::string> names(const RuleIndex& rules, const std::shared_ptr<const Step>& path);

/// The same with the places.
std::vector<AppliedRule> steps(const RuleIndex& rules, const std::shared_ptr<const Step>& path);

/// Keeps a report and its clock.
class Reporter {
 public:
  Reporter(const Graph& original, const RuleIndex& rules, const cost::CostModel& model);
  SearchReport report;
  const State& best() const { return best_; }
  /// Takes s when it is cheaper than the best so far.
  void offer(const State& s);
  SearchReport finish(StopReason reason) &&;

 private:
  double seconds() const;
  const RuleIndex& rules_;
  State best_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};
/// Set when the work must end now.
std::optional<StopReason> stopped(const Stop& stop);

}  // namespace regraft::rewrite

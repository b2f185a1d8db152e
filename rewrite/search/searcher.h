#pragma once
// The seam between optimisation and how the space of graphs is searched.
#include <map>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/progress.h"
#include "cost/model/cost_model.h"
#include "rewrite/match/rule_index.h"

namespace regraft::rewrite {

struct Sizes;

struct SearchOptions {
  double alpha = 1.05;        ///< graphs up to alpha times the best cost are explored further
  uint64_t budget = 10000;    ///< candidate evaluations: matches whose cost is predicted
  uint64_t max_expanded = 0;  ///< graphs whose matches are looked at; 0: no limit
  size_t max_queue = 2000;    ///< graphs kept for later, the cheapest
  double max_growth = 2;      ///< calls that a graph may have, as a multiple of the original's
  int threads = 1;
  uint64_t seed = 0;  ///< for searchers that draw numbers
  Opset opset = {};   ///< new operators must have an ONNX form at this opset; 0: not asked
  Verbosity verbosity = Verbosity::Quiet;
  /// What other searches of the same rules learnt of the graph's pool (see EngineOptions); one
  /// search at a time. Null: nothing.
  Sizes* sizes = nullptr;
};

enum class StopReason : uint8_t {
  Exhausted,  ///< nothing is left within alpha
  Budget,
  Time,
  Interrupted,
  Memory,  ///< as many graphs, or nodes of an e-graph, as are kept
};
std::string to_string(StopReason r);

/// A new best graph.
struct Improvement {
  uint64_t candidate = 0;  ///< evaluations so far
  double cost = 0;         ///< microseconds
  double seconds = 0;      ///< since the start
  std::string rule;        ///< the last rule applied
  size_t depth = 0;        ///< rules applied to the original graph
};

/// A rule applied at a place: enough to do it again (see replay.h).
struct AppliedRule {
  std::string rule;
  std::vector<int32_t> nodes;    ///< graph node of each pattern node of the left side
  std::vector<Value> variables;  ///< graph value of each of the rule's variables
};

struct SearchReport {
  Graph best;
  double cost_before = 0, cost_after = 0;  ///< microseconds
  StopReason stop = StopReason::Exhausted;
  uint64_t expanded = 0;    ///< graphs whose matches were looked at
  uint64_t candidates = 0;  ///< matches whose cost was predicted
  uint64_t duplicates = 0;  ///< candidates equal to a graph seen before
  uint64_t rejected = 0;    ///< candidates that cost too much
  uint64_t left_out = 0;    ///< times that limits ended the search for places of a rule
  size_t peak_queue = 0;
  double seconds = 0;
  double polishing = 0;  ///< of the seconds, those on prices of whole graphs: see polish.h
  std::vector<Improvement> improvements;
  std::map<std::string, int64_t> applied;  ///< on the way to `best`, by rule
  std::vector<AppliedRule> steps;          ///< the way to `best` from the original, in order
};

/// Looks for a cheaper graph. Always returns the best graph seen, the original at worst; the same
/// answer for the same options unless stopped by time or by the user.
class Searcher {
 public:
  virtual ~Searcher() = default;
  /// REQUIRES: g is acyclic.
  virtual SearchReport search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                              const SearchOptions& options, const Stop& stop) const = 0;
};

}  // namespace regraft::rewrite

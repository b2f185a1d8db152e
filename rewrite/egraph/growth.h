#pragma once
// Fills an e-graph with what rules make of a graph, and remembers how.
#include "rewrite/egraph/places.h"
#include "rewrite/search/reporter.h"

namespace regraft::rewrite {

/// A rule at a place in an e-graph.
struct Event {
  int32_t rule = 0;
  const Fit* fit = nullptr;
  std::vector<int32_t> nodes;
  std::vector<Value> variables;
};

/// An e-graph and the events that filled it. Not thread-safe.
class Growth {
 public:
  /// `sizes` outlives this. REQUIRES: g is acyclic and of their pool.
  Growth(const Graph& g, Sizes& sizes);

  /// Finds and applies events, one generation after the other, until nothing is new, `candidates`
  /// are counted, the e-graph has max_nodes, or the reporter says that it is over. A rule that
  /// matches very often gets a few of its matches in and has to wait, longer each time. Of one
  /// generation at most `batch` events are applied, those that save most first; the others wait.
  /// Exhausted: the e-graph holds all that the rules lead to. Memory: it has max_nodes. Budget:
  /// also when matching has taken kMaxTried steps.
  StopReason run(Reporter& reporter, uint64_t candidates, int32_t max_nodes, uint64_t batch);

  static constexpr uint64_t kMaxTried = 20000000;

  const ModelEGraph& graph() const { return graph_; }
  const std::vector<Event>& events() const { return events_; }
  /// The event that made a node; -1: it was there at the start.
  int32_t maker(int32_t node) const { return makers_[static_cast<size_t>(node)]; }
  /// The event of this rule at these nodes and classes, or one that does the same by a symmetry of
  /// the rule; -1: there is none.
  int32_t find(int32_t rule, std::span<const int32_t> nodes, std::span<const Value> variables);

 private:
  using Key = std::vector<int32_t>;
  struct Schedule {
    int free_from = 0;  ///< generation
    int waits = 0;
  };
  void collect(Reporter& reporter);
  bool advance(bool changed);
  bool match(int32_t rule, size_t limit, Reporter& reporter);
  const Key& key(int32_t rule, std::span<const int32_t> nodes, std::span<const Value> variables);
  void renew_keys();
  double cost_change(const Event& e);
  void find_constants(const Event& e);
  bool constant(const Event& e, PatternRef r) const;
  bool pointless(const Event& e) const;
  void apply(Event event);
  std::vector<Event> choose(size_t count);

  const RuleIndex& rules_;
  Fitter& fitter_;
  ModelEGraph graph_;
  PlaceFinder places_;
  std::vector<Event> events_, waiting_;
  std::vector<int32_t> makers_;
  std::unordered_map<Key, int32_t, IdsHash> keys_;  // to events; -1: waiting, or does not fit
  std::vector<Schedule> schedules_;                 // by rule
  std::vector<char> constants_;                     // by pattern node of the right side
  Key key_, twin_;
  size_t first_limit_ = 0;
  int generation_ = 0;
};

}  // namespace regraft::rewrite

#pragma once
// What a match would do to a graph: the calls to add, the values to redirect, the nodes that die.
#include "rewrite/match/fit.h"

namespace regraft::rewrite {

/// In a plan: a value of the graph, or (node < 0) an output of planned call ~node.
using PlanRef = Value;
inline bool is_planned(PlanRef r) { return r.node < 0; }
inline size_t planned_index(PlanRef r) { return static_cast<size_t>(~r.node); }

struct Plan {
  struct Call {
    FormId form = -1;
    const CallFacts* facts = nullptr;
    size_t first_input = 0, inputs = 0;  ///< in `Plan::inputs`
    bool constant = false;               ///< depends on constants only
  };
  std::vector<Call> calls;  ///< operands first; none is in the graph already
  std::vector<PlanRef> inputs;
  std::vector<std::pair<Value, PlanRef>> replaced;  ///< each use of first becomes second
  std::vector<int32_t> found;      ///< nodes of the graph that the right side takes as they are
  std::vector<int32_t> removed;    ///< dead afterwards
  std::vector<int32_t> constants;  ///< run now, depend on constants only afterwards
  double cost_change = 0;          ///< microseconds, new minus old
  int32_t growth = 0;              ///< calls that run, new minus old

  /// What the plan depends on. It is the same as long as these are: whether `uses + delta` of each
  /// node is 0, and what is found under each content.
  struct Count {
    int32_t node = 0, delta = 0;
  };
  std::vector<Count> counts;
  std::vector<uint64_t> contents;
  bool reads_paths = false;      ///< also on which values depend on which
  bool reads_constants = false;  ///< also on what follows the place
  /// It changes which of the values that stay depend on which.
  bool changes_paths = false;

  std::span<const PlanRef> inputs_of(const Call& c) const {
    return {inputs.data() + c.first_input, c.inputs};
  }
  /// Follows redirections of values to their end.
  PlanRef resolve(PlanRef v) const;
};

/// Stands for a delta that no number of uses makes up for: any change of its uses counts.
constexpr int32_t kAnyChange = INT32_MIN;

/// Makes one plan after the other in the same memory. Not thread-safe.
class Planner {
 public:
  explicit Planner(const LiveGraph& g) : g_(g) {}
  /// False when the match changes nothing or only constants, would make a cycle, would make a
  /// constant depend on more, or needs a call that cannot be written. What it depends on is set in
  /// any case. REQUIRES: `fit` is that of the place.
  bool make(const Place& place, const Fit& fit);
  const Plan& plan() const { return plan_; }

 private:
  bool constant(PlanRef r) const;
  PlanRef place_of(PatternRef r) const;
  bool add_right_side();
  bool place_call(const Fit::Call& call, const std::vector<PatternRef>& operands);
  int32_t planned_twin(const Plan::Call& call) const;
  bool redirect();
  bool has_cycle();
  std::vector<char> outputs_needed_by(PlanRef to);
  void count_uses();
  void use(PlanRef r, int32_t n);
  void remove_dead_nodes();
  void check_dead(int32_t id);
  void expose_constants();
  void price();
  void note_dependencies();
  int32_t& delta(int32_t id);
  bool is_removed(int32_t id) const;

  const LiveGraph& g_;
  const Place* place_ = nullptr;
  const Fit* fit_ = nullptr;
  Plan plan_;
  std::vector<int32_t> placed_;  // by pattern node of the right side: PlanRef::node
  struct Delta {
    int32_t round = 0, value = 0;
  };
  std::vector<Delta> deltas_;  // by id: change of its uses
  std::vector<int32_t> touched_, stack_;
  std::vector<uint64_t> operands_;
  std::vector<int32_t> walked_;  // by id: the last walk that came by
  std::vector<PlanRef> read_;
  int32_t round_ = 0, walk_ = 0;
};

}  // namespace regraft::rewrite

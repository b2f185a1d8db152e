#pragma once
// What a match would do to a graph: the calls to add, the values to redirect, the nodes that die.
#include "rewrite/binding.h"
#include "rewrite/rule_index.h"
#include "rewrite/view.h"

namespace regraft::rewrite {

/// In a plan: a value of the graph, or (node < 0) an output of planned call ~node.
using PlanRef = Value;
inline bool is_planned(PlanRef r) { return r.node < 0; }
inline size_t planned_index(PlanRef r) { return static_cast<size_t>(~r.node); }

struct PlannedCall {
  const OpDef* op = nullptr;
  Attrs<Poly> attrs;
  std::vector<PlanRef> inputs;
  std::vector<TensorType> types;
  bool constant = false;  ///< depends on constants only
};

struct Plan {
  std::vector<PlannedCall> calls;  ///< operands first; none is in the graph already
  std::vector<std::pair<Value, PlanRef>> replaced;  ///< each use of first becomes second
  std::vector<int32_t> removed;                     ///< dead afterwards
  double cost_change = 0;                           ///< microseconds, new minus old
  /// A value that was computed at run time becomes a constant: what follows it may become free too,
  /// which cost_change does not count.
  bool exposes_constant = false;
};

/// One way in which the left side of a rule lies in a graph.
struct Found {
  const CompiledRule* rule = nullptr;
  const RuleInstance* instance = nullptr;
  std::vector<int32_t> nodes;  ///< graph node of each pattern node
  std::vector<Value> variables;
  Binding binding;
};

struct PlanOptions {
  int opset = 0;  ///< new calls must have an ONNX form at this opset; 0: not asked
};

/// nullopt when the right side has no such form here, would change a type, would make a cycle, or
/// changes nothing. Operands of the calls have the element type of the match, makers of constants
/// too.
std::optional<Plan> make_plan(const GraphView& view, const Found& found,
                              const cost::CostModel& model, const PlanOptions& options);
/// Follows redirections of values to their end.
PlanRef resolve(const Plan& plan, PlanRef v);

}  // namespace regraft::rewrite

#include "cost/model/cost_model.h"

#include "base/check.h"

namespace regraft::cost {

std::vector<TensorType> operand_types(const Graph& g, const Node& node) {
  std::vector<TensorType> types;
  types.reserve(node.inputs.size());
  for (Value v : node.inputs) types.push_back(g.type(v));
  return types;
}

GraphCost graph_cost(const CostModel& model, const Graph& g) {
  GraphCost sum;
  auto order = topological_order(g);
  CHECK(order.has_value());
  auto constant = constant_nodes(g);
  for (int32_t id : *order) {
    const Node& node = g.node(id);
    bool runs = node.kind == NodeKind::Call || node.kind == NodeKind::Opaque;
    if (!runs || constant[static_cast<size_t>(id)]) continue;
    sum.total = sum.total + model.cost(node, operand_types(g, node));
    ++sum.calls;
    ++sum.calls_by_op[node.kind == NodeKind::Call ? std::string(node.op->name) : "opaque"];
  }
  return sum;
}

}  // namespace regraft::cost

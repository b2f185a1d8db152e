#include "rewrite/view.h"

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"

namespace regraft::rewrite {

namespace {

uint64_t hash_of(Value v) {
  return mix((static_cast<uint64_t>(static_cast<uint32_t>(v.node)) << 32) |
             static_cast<uint32_t>(v.output));
}

double runtime_cost(const Graph& g, const Node& node, const cost::CostModel& model) {
  if (node.kind != NodeKind::Call && node.kind != NodeKind::Opaque) return 0;
  return model.cost(node, cost::operand_types(g, node)).microseconds;
}

void index_calls(GraphView& view) {
  for (int32_t id : view.order) {
    const Node& node = view.node(id);
    if (node.kind != NodeKind::Call) continue;
    view.by_op[node.op].push_back(id);
    view.by_content.emplace(content_hash(*node.op, node.attrs, node.inputs), id);
  }
}

}  // namespace

uint64_t content_hash(const OpDef& op, const Attrs<Poly>& attrs, const std::vector<Value>& inputs) {
  uint64_t h = combine(hash_text(op.name), hash(attrs));
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (k == 0 && op.commutative && inputs.size() > 1) {
      h = combine(h, hash_of(inputs[0]) + hash_of(inputs[1]));
      k = 1;
    } else {
      h = combine(h, hash_of(inputs[k]));
    }
  }
  return h;
}

bool same_inputs(const OpDef& op, const std::vector<Value>& a, const std::vector<Value>& b) {
  if (a == b) return true;
  if (!op.commutative || a.size() != b.size() || a.size() < 2) return false;
  return a[0] == b[1] && a[1] == b[0] && std::equal(a.begin() + 2, a.end(), b.begin() + 2);
}

int32_t GraphView::uses_of(Value v) const {
  int32_t n = 0;
  for (auto [consumer, operand] : uses[static_cast<size_t>(v.node)])
    n += node(consumer).inputs[static_cast<size_t>(operand)] == v;
  for (Value out : graph.outputs()) n += out == v;
  return n;
}

int32_t GraphView::find_call(const OpDef& op, const Attrs<Poly>& attrs,
                             const std::vector<Value>& inputs) const {
  int32_t found = -1;
  auto [begin, end] = by_content.equal_range(content_hash(op, attrs, inputs));
  for (auto it = begin; it != end; ++it) {
    const Node& n = node(it->second);
    if (n.op != &op || !same(n.attrs, attrs) || !same_inputs(op, n.inputs, inputs)) continue;
    if (found < 0 || it->second < found) found = it->second;
  }
  return found;
}

double GraphView::total_cost() const {
  double sum = 0;
  for (int32_t id : order) sum += cost[static_cast<size_t>(id)];
  return sum;
}

GraphView make_view(Graph g, const cost::CostModel& model) {
  remove_dead(g);
  GraphView view;
  view.graph = std::move(g);
  auto order = topological_order(view.graph);
  CHECK(order.has_value());
  view.order = *std::move(order);
  auto bound = static_cast<size_t>(view.graph.id_bound());
  view.position.assign(bound, -1);
  for (size_t k = 0; k < view.order.size(); ++k)
    view.position[static_cast<size_t>(view.order[k])] = static_cast<int32_t>(k);
  view.uses = consumers(view.graph);
  view.use_count.assign(bound, 0);
  for (size_t id = 0; id < bound; ++id)
    view.use_count[id] = static_cast<int32_t>(view.uses[id].size());
  for (Value out : view.graph.outputs()) ++view.use_count[static_cast<size_t>(out.node)];
  view.constant = constant_nodes(view.graph);
  view.cost.assign(bound, 0);
  for (int32_t id : view.order)
    if (!view.constant[static_cast<size_t>(id)])
      view.cost[static_cast<size_t>(id)] = runtime_cost(view.graph, view.node(id), model);
  index_calls(view);
  return view;
}

}  // namespace regraft::rewrite

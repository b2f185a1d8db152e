#include "ir/graph/graph.h"

#include <algorithm>
#include <set>

namespace regraft {
namespace {

bool exists(const Graph& g, Value v) {
  return v.node >= 0 && v.node < g.id_bound() && g.contains(v.node) && v.output >= 0 &&
         v.output < static_cast<int32_t>(g.node(v.node).types.size());
}

std::string place(const Graph& g, int32_t id) {
  const Node& n = g.node(id);
  std::string s = "node " + std::to_string(id);
  if (!n.names.empty() && !n.names[0].empty()) s += " '" + n.names[0] + "'";
  return n.op ? s + " (" + std::string(n.op->name) + ")" : s;
}

/// The nodes that `roots` need, operands first; the roots in their order.
Result<std::vector<int32_t>> order_from(const Graph& g, const std::vector<int32_t>& roots) {
  enum : char { New, Open, Done };
  std::vector<char> state(static_cast<size_t>(g.id_bound()), New);
  std::vector<int32_t> order;
  std::vector<std::pair<int32_t, size_t>> stack;  // a node and its next operand
  for (int32_t root : roots) {
    if (state[static_cast<size_t>(root)] != New) continue;
    state[static_cast<size_t>(root)] = Open;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      if (next == g.node(id).inputs.size()) {
        state[static_cast<size_t>(id)] = Done;
        order.push_back(id);
        stack.pop_back();
        continue;
      }
      Value v = g.node(id).inputs[next++];
      if (!exists(g, v))
        return error(place(g, id) + " reads output " + std::to_string(v.output) + " of node " +
                     std::to_string(v.node) + ", which does not exist");
      char& seen = state[static_cast<size_t>(v.node)];
      if (seen == Open) return error("the graph has a cycle through " + place(g, v.node));
      if (seen == New) {
        seen = Open;
        stack.push_back({v.node, 0});
      }
    }
  }
  return order;
}

Status check_call(const Graph& g, int32_t id) {
  const Node& n = g.node(id);
  std::vector<TensorType> operands;
  for (Value v : n.inputs) operands.push_back(g.type(v));
  auto types = infer_call(g.pool(), *n.op, operands, n.attrs);
  if (!types) return error(place(g, id) + ": " + types.error().message);
  bool equal = types->size() == n.types.size();
  for (size_t k = 0; equal && k < types->size(); ++k) {
    // A maker of constants has no operand to take its element type from.
    if (n.inputs.empty() && is_real(n.types[k].dtype)) (*types)[k].dtype = n.types[k].dtype;
    equal = same((*types)[k], n.types[k]);
  }
  if (!equal) return error(place(g, id) + " has types that differ from the inferred ones");
  return {};
}

Status check_node(const Graph& g, int32_t id) {
  const Node& n = g.node(id);
  if ((n.kind == NodeKind::Call) != (n.op != nullptr))
    return error(place(g, id) + ": only a call has an operator, and each call has one");
  if (n.kind == NodeKind::Constant && !n.constant)
    return error(place(g, id) + " is a constant without data");
  bool may_hold_data = n.kind == NodeKind::Constant || n.kind == NodeKind::Opaque;
  if (n.constant && !may_hold_data)
    return error(place(g, id) + " has data, but is no constant and carries none");
  bool leaf = n.kind != NodeKind::Call && n.kind != NodeKind::Opaque;
  if (leaf && !n.inputs.empty()) return error(place(g, id) + " is a leaf but has operands");
  if (leaf && n.types.size() != 1) return error(place(g, id) + " is a leaf without one type");
  return n.kind == NodeKind::Call ? check_call(g, id) : Status{};
}

}  // namespace

int32_t Graph::node_count() const {
  return static_cast<int32_t>(
      std::count_if(nodes_.begin(), nodes_.end(), [](const NodePtr& n) { return n != nullptr; }));
}

Value Graph::add_input(TensorType type, std::string name) {
  Node n;
  n.kind = NodeKind::Input;
  n.types.push_back(std::move(type));
  if (!name.empty()) n.names.push_back(std::move(name));
  return {add_node(std::move(n)), 0};
}

Value Graph::add_constant(std::shared_ptr<const Constant> data, std::string name) {
  Node n;
  n.kind = NodeKind::Constant;
  n.types.push_back({data->dtype(), Shape(data->dims().begin(), data->dims().end())});
  n.constant = std::move(data);
  if (!name.empty()) n.names.push_back(std::move(name));
  return {add_node(std::move(n)), 0};
}

Result<int32_t> Graph::add_call(const OpDef& op, std::vector<Value> operands, Attrs<Poly> attrs,
                                const std::function<void(const Formula&)>& on_require) {
  std::vector<TensorType> types;
  types.reserve(operands.size());
  for (Value v : operands) {
    CHECK(exists(*this, v));
    types.push_back(type(v));
  }
  Node n;
  ASSIGN_OR_RETURN(n.types, infer_call(*pool_, op, types, attrs, on_require));
  n.op = &op;
  n.attrs = std::move(attrs);
  n.inputs = std::move(operands);
  return add_node(std::move(n));
}

int32_t Graph::add_node(Node node) {
  int32_t id = id_bound();
  if (node.kind == NodeKind::Input) inputs_.push_back({id, 0});
  nodes_.push_back(std::make_shared<const Node>(std::move(node)));
  return id;
}

Result<std::vector<int32_t>> topological_order(const Graph& g) {
  std::vector<int32_t> roots;
  for (Value v : g.inputs()) roots.push_back(v.node);
  for (Value v : g.outputs()) {
    if (!exists(g, v))
      return error("graph output " + std::to_string(v.output) + " of node " +
                   std::to_string(v.node) + " does not exist");
    roots.push_back(v.node);
  }
  return order_from(g, roots);
}

std::vector<int32_t> full_order(const Graph& g) {
  std::vector<int32_t> roots;
  for (int32_t id = 0; id < g.id_bound(); ++id)
    if (g.contains(id)) roots.push_back(id);
  auto order = order_from(g, roots);
  CHECK(order);
  return *std::move(order);
}

std::vector<std::vector<std::pair<int32_t, int32_t>>> consumers(const Graph& g) {
  std::vector<std::vector<std::pair<int32_t, int32_t>>> users(static_cast<size_t>(g.id_bound()));
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id)) continue;
    const auto& inputs = g.node(id).inputs;
    for (size_t k = 0; k < inputs.size(); ++k)
      users[static_cast<size_t>(inputs[k].node)].push_back({id, static_cast<int32_t>(k)});
  }
  return users;
}

void remove_dead(Graph& g) {
  auto order = topological_order(g);
  CHECK(order);
  std::vector<char> live(static_cast<size_t>(g.id_bound()), 0);
  for (int32_t id : *order) live[static_cast<size_t>(id)] = 1;
  for (int32_t id = 0; id < g.id_bound(); ++id)
    if (g.contains(id) && !live[static_cast<size_t>(id)]) g.remove_node(id);
}

void replace_uses(Graph& g, Value from, Value to) {
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id)) continue;
    const auto& inputs = g.node(id).inputs;
    if (std::find(inputs.begin(), inputs.end(), from) == inputs.end()) continue;
    Node n = g.node(id);
    std::replace(n.inputs.begin(), n.inputs.end(), from, to);
    g.replace_node(id, std::move(n));
  }
  std::vector<Value> outputs = g.outputs();
  std::replace(outputs.begin(), outputs.end(), from, to);
  g.set_outputs(std::move(outputs));
}

Status validate(const Graph& g) {
  for (Value v : g.inputs())
    if (!exists(g, v) || g.node(v.node).kind != NodeKind::Input)
      return error("graph input " + std::to_string(v.node) + " is not an input node");
  std::set<int32_t> listed;
  for (Value v : g.inputs()) listed.insert(v.node);
  std::vector<int32_t> all;
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id)) continue;
    if (g.node(id).kind == NodeKind::Input && listed.count(id) == 0)
      return error(place(g, id) + " is an input node that the graph does not list");
    all.push_back(id);
  }
  ASSIGN_OR_RETURN(std::vector<int32_t> order, order_from(g, all));
  for (int32_t id : order) RETURN_IF_ERROR(check_node(g, id));
  auto live = topological_order(g);
  return live ? Status{} : Status{live.error()};
}

namespace {

/// A call on values whose result depends on sizes that are not numbers.
bool is_sized(const Node& n) {
  return n.kind == NodeKind::Call && !n.inputs.empty() && !numeric(n.attrs);
}

}  // namespace

std::vector<char> constant_nodes(const Graph& g) {
  std::vector<char> constant(static_cast<size_t>(g.id_bound()), 0);
  for (int32_t id : full_order(g)) {
    const Node& n = g.node(id);
    if (n.kind == NodeKind::Input || n.kind == NodeKind::Opaque || is_sized(n)) continue;
    constant[static_cast<size_t>(id)] = std::all_of(n.inputs.begin(), n.inputs.end(), [&](Value v) {
      return constant[static_cast<size_t>(v.node)];
    });
  }
  return constant;
}

}  // namespace regraft

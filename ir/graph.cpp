#include "ir/graph.h"

#include <algorithm>
#include <set>

#include "base/hash.h"

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
      if (seen == Open)
        return error("the graph has a cycle through " + place(g, v.node));
      if (seen == New) {
        seen = Open;
        stack.push_back({v.node, 0});
      }
    }
  }
  return order;
}

/// For each id its position among the graph inputs, or -1.
std::vector<int32_t> input_positions(const Graph& g) {
  std::vector<int32_t> positions(static_cast<size_t>(g.id_bound()), -1);
  for (size_t k = 0; k < g.inputs().size(); ++k)
    positions[static_cast<size_t>(g.inputs()[k].node)] = static_cast<int32_t>(k);
  return positions;
}

uint64_t node_hash(const Graph& g, int32_t id, int32_t input_position,
                   const std::vector<uint64_t>& hashes) {
  const Node& n = g.node(id);
  uint64_t h = mix(static_cast<uint64_t>(n.kind) + 1);
  switch (n.kind) {
    case NodeKind::Absent: return h;
    case NodeKind::Input:
      return combine(combine(h, static_cast<uint64_t>(input_position)),
                     static_cast<uint64_t>(n.types[0].dtype));
    case NodeKind::Constant: return combine(h, n.constant->hash());
    case NodeKind::Call: h = combine(combine(h, hash_text(n.op->name)), hash(n.attrs)); break;
    case NodeKind::Opaque:
      if (n.opaque_key == 0) return combine(combine(h, 1), static_cast<uint64_t>(id));
      h = combine(combine(h, 2), n.opaque_key);
      break;
  }
  auto operand = [&](size_t k) {
    return combine(hashes[static_cast<size_t>(n.inputs[k].node)],
                   static_cast<uint64_t>(n.inputs[k].output));
  };
  size_t k = 0;
  if (n.op && n.op->commutative && n.inputs.size() >= 2) {
    uint64_t x = operand(0), y = operand(1);
    h = combine(combine(h, std::min(x, y)), std::max(x, y));
    k = 2;
  }
  for (; k < n.inputs.size(); ++k) h = combine(h, operand(k));
  return combine(h, n.inputs.size());
}

bool same_constant(const Constant& a, const Constant& b) {
  return a.dtype() == b.dtype() && a.dims() == b.dims() && a.hash() == b.hash();
}

/// Symbols of two pools are compared by name.
bool same_across(const Poly& a, const Poly& b, bool one_pool) {
  return one_pool ? same(a, b) : to_string(a) == to_string(b);
}
bool same_across(const TensorType& a, const TensorType& b, bool one_pool) {
  return one_pool ? same(a, b) : to_string(a) == to_string(b);
}
bool same_across(const Attrs<Poly>& a, const Attrs<Poly>& b, bool one_pool) {
  if (one_pool) return same(a, b);
  if (a.ints.size() != b.ints.size() || a.reals.size() != b.reals.size()) return false;
  for (size_t k = 0; k < a.ints.size(); ++k)
    if (!std::equal(a.ints[k].begin(), a.ints[k].end(), b.ints[k].begin(), b.ints[k].end(),
                    [](auto& x, auto& y) { return same_across(x, y, false); }))
      return false;
  for (size_t k = 0; k < a.reals.size(); ++k) {
    const Real &x = a.reals[k], &y = b.reals[k];
    bool same_symbol = x.symbol && y.symbol ? x.symbol->name == y.symbol->name
                                            : !x.symbol && !y.symbol && same_real(x, y);
    if (!same_symbol) return false;
  }
  return true;
}

/// Numbers nodes so that two nodes have one number exactly when they are equal calls of equal
/// operands (or equal constants, inputs at one position, opaque nodes with one key).
class Classes {
 public:
  explicit Classes(bool one_pool) : one_pool_(one_pool) {}

  /// The class of node `id` whose operands have classes `of`; `unique`: the node's identity when
  /// it is an input (its position) or is equal to no other (its id).
  int32_t find(const Node& n, int32_t unique, const std::vector<int32_t>& of) {
    std::vector<Value> operands;
    for (Value v : n.inputs) operands.push_back({of[static_cast<size_t>(v.node)], v.output});
    if (n.op && n.op->commutative && operands.size() >= 2 && operands[1] < operands[0])
      std::swap(operands[0], operands[1]);
    uint64_t h = mix(static_cast<uint64_t>(n.kind)) + (n.op ? hash_text(n.op->name) : 0);
    h = combine(h, n.constant ? n.constant->hash() : n.opaque_key);
    for (Value v : operands)
      h = combine(combine(h, static_cast<uint64_t>(v.node)), static_cast<uint64_t>(v.output));
    for (auto [it, end] = index_.equal_range(h); it != end; ++it) {
      const Entry& e = entries_[static_cast<size_t>(it->second)];
      if (e.operands == operands && equal(*e.node, e.unique, n, unique)) return it->second;
    }
    auto number = static_cast<int32_t>(entries_.size());
    index_.emplace(h, number);
    entries_.push_back({&n, unique, std::move(operands)});
    return number;
  }

 private:
  struct Entry {
    const Node* node;
    int32_t unique;
    std::vector<Value> operands;
  };
  bool equal(const Node& a, int32_t unique_a, const Node& b, int32_t unique_b) const {
    if (a.kind != b.kind || a.op != b.op) return false;
    switch (a.kind) {
      case NodeKind::Absent: return true;
      case NodeKind::Input:
        return unique_a == unique_b && same_across(a.types[0], b.types[0], one_pool_);
      case NodeKind::Constant: return same_constant(*a.constant, *b.constant);
      case NodeKind::Call: return same_across(a.attrs, b.attrs, one_pool_);
      case NodeKind::Opaque: break;
    }
    return a.opaque_key == b.opaque_key && a.types.size() == b.types.size() &&
           (a.opaque_key != 0 || unique_a == unique_b);
  }
  bool one_pool_;
  std::vector<Entry> entries_;
  std::unordered_multimap<uint64_t, int32_t> index_;
};

/// The class of each node of the order; -1 for the others.
std::vector<int32_t> classify(Classes& classes, const Graph& g, const std::vector<int32_t>& order) {
  std::vector<int32_t> positions = input_positions(g);
  std::vector<int32_t> of(static_cast<size_t>(g.id_bound()), -1);
  for (int32_t id : order) {
    const Node& n = g.node(id);
    int32_t unique = n.kind == NodeKind::Input ? positions[static_cast<size_t>(id)] : id;
    of[static_cast<size_t>(id)] = classes.find(n, unique, of);
  }
  return of;
}

Status check_call(const Graph& g, int32_t id) {
  const Node& n = g.node(id);
  std::vector<TensorType> operands;
  for (Value v : n.inputs) operands.push_back(g.type(v));
  auto types = infer_call(g.pool(), *n.op, operands, n.attrs);
  if (!types) return error(place(g, id) + ": " + types.error().message);
  bool equal = types->size() == n.types.size();
  for (size_t k = 0; equal && k < types->size(); ++k) equal = same((*types)[k], n.types[k]);
  if (!equal) return error(place(g, id) + " has types that differ from the inferred ones");
  return {};
}

Status check_node(const Graph& g, int32_t id) {
  const Node& n = g.node(id);
  if ((n.kind == NodeKind::Call) != (n.op != nullptr))
    return error(place(g, id) + ": only a call has an operator, and each call has one");
  if ((n.kind == NodeKind::Constant) != (n.constant != nullptr))
    return error(place(g, id) + ": only a constant has data, and each constant has some");
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

std::vector<uint64_t> value_hashes(const Graph& g) {
  std::vector<uint64_t> hashes(static_cast<size_t>(g.id_bound()), 0);
  std::vector<int32_t> positions = input_positions(g);
  for (int32_t id : full_order(g))
    hashes[static_cast<size_t>(id)] = node_hash(g, id, positions[static_cast<size_t>(id)], hashes);
  return hashes;
}

uint64_t structural_hash(const Graph& g) {
  std::vector<uint64_t> hashes = value_hashes(g);
  uint64_t h = mix(g.inputs().size());
  for (Value v : g.outputs())
    h = combine(combine(h, hashes[static_cast<size_t>(v.node)]), static_cast<uint64_t>(v.output));
  return h;
}

bool structurally_equal(const Graph& a, const Graph& b) {
  if (a.inputs().size() != b.inputs().size() || a.outputs().size() != b.outputs().size())
    return false;
  auto order_a = topological_order(a), order_b = topological_order(b);
  CHECK(order_a && order_b);
  Classes classes(a.shared_pool() == b.shared_pool());
  std::vector<int32_t> of_a = classify(classes, a, *order_a);
  std::vector<int32_t> of_b = classify(classes, b, *order_b);
  auto equal = [&](Value x, Value y) {
    return x.output == y.output &&
           of_a[static_cast<size_t>(x.node)] == of_b[static_cast<size_t>(y.node)];
  };
  return std::equal(a.inputs().begin(), a.inputs().end(), b.inputs().begin(), equal) &&
         std::equal(a.outputs().begin(), a.outputs().end(), b.outputs().begin(), equal);
}

Status validate(const Graph& g) {
  for (Value v : g.inputs())
    if (!exists(g, v) || g.node(v.node).kind != NodeKind::Input)
      return error("graph input " + std::to_string(v.node) + " is not an input node");
  std::vector<int32_t> positions = input_positions(g), all;
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id)) continue;
    if (g.node(id).kind == NodeKind::Input && positions[static_cast<size_t>(id)] < 0)
      return error(place(g, id) + " is an input node that the graph does not list");
    all.push_back(id);
  }
  ASSIGN_OR_RETURN(std::vector<int32_t> order, order_from(g, all));
  for (int32_t id : order) RETURN_IF_ERROR(check_node(g, id));
  auto live = topological_order(g);
  return live ? Status{} : Status{live.error()};
}

Graph canonical(const Graph& g) {
  auto order = topological_order(g);
  CHECK(order);
  Classes classes(true);
  std::vector<int32_t> of = classify(classes, g, *order);
  Graph result(g.shared_pool());
  std::vector<int32_t> new_ids(order->size(), -1);  // by class
  auto moved = [&](Value v) {
    return Value{new_ids[static_cast<size_t>(of[static_cast<size_t>(v.node)])], v.output};
  };
  for (int32_t id : *order) {
    int32_t& new_id = new_ids[static_cast<size_t>(of[static_cast<size_t>(id)])];
    if (new_id >= 0) continue;
    Node n = g.node(id);
    for (Value& v : n.inputs) v = moved(v);
    new_id = result.add_node(std::move(n));
  }
  std::vector<Value> outputs;
  for (Value v : g.outputs()) outputs.push_back(moved(v));
  result.set_outputs(std::move(outputs));
  return result;
}

std::vector<char> constant_nodes(const Graph& g) {
  std::vector<char> constant(static_cast<size_t>(g.id_bound()), 0);
  for (int32_t id : full_order(g)) {
    const Node& n = g.node(id);
    if (n.kind == NodeKind::Input || n.kind == NodeKind::Opaque) continue;
    constant[static_cast<size_t>(id)] =
        std::all_of(n.inputs.begin(), n.inputs.end(),
                    [&](Value v) { return constant[static_cast<size_t>(v.node)]; });
  }
  return constant;
}

}  // namespace regraft

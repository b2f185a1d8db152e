// When two graphs, or two nodes, compute the same: hashes, equality, the canonical form.
#include <algorithm>

#include "base/hash.h"
#include "ir/graph.h"

namespace regraft {
namespace {

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
    case NodeKind::Absent:
      return h;
    case NodeKind::Input:
      return combine(combine(h, static_cast<uint64_t>(input_position)),
                     static_cast<uint64_t>(n.types[0].dtype));
    case NodeKind::Constant:
      return combine(h, n.constant->hash());
    case NodeKind::Call:
      h = combine(combine(h, hash_text(n.op->name)), hash(n.attrs));
      break;
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
      case NodeKind::Absent:
        return true;
      case NodeKind::Input:
        return unique_a == unique_b && same_across(a.types[0], b.types[0], one_pool_);
      case NodeKind::Constant:
        return same_constant(*a.constant, *b.constant);
      case NodeKind::Call:
        return same_across(a.attrs, b.attrs, one_pool_);
      case NodeKind::Opaque:
        break;
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

}  // namespace

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

}  // namespace regraft

// When two graphs, or two nodes, compute the same: hashes, equality, the canonical form.
#include <algorithm>
#include <unordered_set>

#include "base/hash.h"
#include "ir/graph/graph.h"

namespace regraft {
namespace {

/// For each id its position among the graph inputs, or -1.
std::vector<int32_t> input_positions(const Graph& g) {
  std::vector<int32_t> positions(static_cast<size_t>(g.id_bound()), -1);
  for (size_t k = 0; k < g.inputs().size(); ++k)
    positions[static_cast<size_t>(g.inputs()[k].node)] = static_cast<int32_t>(k);
  return positions;
}

/// How many opaque nodes that are not pure came before with the same hash: what tells them apart.
using Occurrences = std::unordered_map<uint64_t, uint64_t>;

/// Of a node by itself.
uint64_t own_hash(const Node& n, int32_t input_position) {
  uint64_t h = mix(static_cast<uint64_t>(n.kind) + 1);
  switch (n.kind) {
    case NodeKind::Absent:
      break;
    case NodeKind::Input:
      return combine(combine(h, static_cast<uint64_t>(input_position)),
                     static_cast<uint64_t>(n.types[0].dtype));
    case NodeKind::Constant:
      return combine(combine(h, n.constant->hash().low), n.constant->hash().high);
    case NodeKind::Call:
      return combine(combine(h, hash_text(n.op->name)), hash(n.attrs));
    case NodeKind::Opaque:
      h = combine(combine(h, n.pure), short_hash(n.content));
      return n.constant ? combine(h, n.constant->hash().low) : h;
  }
  return h;
}

uint64_t node_hash(const Graph& g, int32_t id, int32_t input_position,
                   const std::vector<uint64_t>& hashes, Occurrences& seen) {
  const Node& n = g.node(id);
  uint64_t h = own_hash(n, input_position);
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
  h = combine(h, n.inputs.size());
  return n.kind == NodeKind::Opaque && !n.pure ? combine(h, seen[h]++) : h;
}

/// The symbols of one pool as those of another, found while things that must be equal are compared.
class SymbolMap {
 public:
  /// What a comparison found counts only when it succeeds.
  template <class Comparison>
  bool keep_if(Comparison&& comparison) {
    size_t before = found_.size();
    if (comparison()) return true;
    for (; found_.size() > before; found_.pop_back()) {
      backward_.erase(forward_.at(found_.back()));
      forward_.erase(found_.back());
    }
    return false;
  }
  bool same(const Poly& a, const Poly& b) {
    if (a.constant() != b.constant() || a.terms().size() != b.terms().size()) return false;
    return std::equal(a.terms().begin(), a.terms().end(), b.terms().begin(),
                      [&](const Poly::Term& x, const Poly::Term& y) {
                        return x.coefficient == y.coefficient &&
                               std::equal(x.monomial.begin(), x.monomial.end(), y.monomial.begin(),
                                          y.monomial.end(),
                                          [&](Var v, Var w) { return same(v, w); });
                      });
  }

 private:
  bool same(Var a, Var b) {
    if (auto it = forward_.find(a); it != forward_.end()) return it->second == b;
    // What a model says of its sizes' least values is more or less, but they are never 0.
    if (backward_.count(b) || a->kind != b->kind || a->name != b->name ||
        (a->min > 0) != (b->min > 0))
      return false;
    if (a->kind == SymbolKind::Lookup) return false;
    if (a->numerator &&
        !(same(*a->numerator, *b->numerator) && same(*a->denominator, *b->denominator)))
      return false;
    forward_.emplace(a, b);
    backward_.emplace(b, a);
    found_.push_back(a);
    return true;
  }
  std::unordered_map<Var, Var> forward_, backward_;
  std::vector<Var> found_;
};

bool same(const TensorType& a, const TensorType& b, SymbolMap& symbols) {
  if (a.dtype != b.dtype || a.shape.has_value() != b.shape.has_value()) return false;
  return !a.shape || std::equal(a.shape->begin(), a.shape->end(), b.shape->begin(), b.shape->end(),
                                [&](auto& x, auto& y) { return symbols.same(x, y); });
}

bool same(const Attrs<Poly>& a, const Attrs<Poly>& b, SymbolMap& symbols) {
  auto same_list = [&](const std::vector<Poly>& x, const std::vector<Poly>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [&](auto& p, auto& q) { return symbols.same(p, q); });
  };
  auto same_number = [](const Real& x, const Real& y) {
    return x.symbol && y.symbol ? x.symbol->name == y.symbol->name
                                : !x.symbol && !y.symbol && same_real(x, y);
  };
  return std::equal(a.ints.begin(), a.ints.end(), b.ints.begin(), b.ints.end(), same_list) &&
         std::equal(a.reals.begin(), a.reals.end(), b.reals.begin(), b.reals.end(), same_number);
}

/// Numbers nodes so that two nodes have one number exactly when they are equal calls of equal
/// operands (or equal constants, inputs at one position, equal opaque nodes that are pure).
class Classes {
 public:
  /// The class of each node of the order; -1 for the others.
  std::vector<int32_t> classify(const Graph& g, const std::vector<int32_t>& order) {
    std::vector<int32_t> positions = input_positions(g);
    std::vector<int32_t> of(static_cast<size_t>(g.id_bound()), -1);
    taken_.clear();
    for (int32_t id : order)
      of[static_cast<size_t>(id)] = find(g, id, positions[static_cast<size_t>(id)], of);
    return of;
  }

 private:
  struct Entry {
    const Node* node;
    const SymbolPool* pool;
    int32_t position;  ///< of an input
    std::vector<Value> operands;
  };

  int32_t find(const Graph& g, int32_t id, int32_t position, const std::vector<int32_t>& of) {
    Entry e{&g.node(id), g.shared_pool().get(), position, {}};
    for (Value v : e.node->inputs)
      e.operands.push_back({of[static_cast<size_t>(v.node)], v.output});
    if (e.node->op && e.node->op->commutative && e.operands.size() >= 2 &&
        e.operands[1] < e.operands[0])
      std::swap(e.operands[0], e.operands[1]);
    uint64_t h =
        e.node->kind == NodeKind::Call ? hash_text(e.node->op->name) : own_hash(*e.node, position);
    for (Value v : e.operands)
      h = combine(combine(h, static_cast<uint64_t>(v.node)), static_cast<uint64_t>(v.output));
    bool once = e.node->kind == NodeKind::Opaque && !e.node->pure;
    std::vector<int32_t>& bucket = index_[h];
    for (int32_t other : bucket)
      if (equal(entries_[static_cast<size_t>(other)], e) && !(once && taken_.count(other))) {
        if (once) taken_.insert(other);
        return other;
      }
    auto number = static_cast<int32_t>(entries_.size());
    bucket.push_back(number);
    if (once) taken_.insert(number);
    entries_.push_back(std::move(e));
    return number;
  }

  bool equal(const Entry& x, const Entry& y) {
    const Node &a = *x.node, &b = *y.node;
    if (a.kind != b.kind || a.op != b.op || x.operands != y.operands) return false;
    auto equal_in = [&](const auto& left, const auto& right) {
      return x.pool == y.pool ? regraft::same(left, right)
                              : symbols_.keep_if([&] { return same(left, right, symbols_); });
    };
    switch (a.kind) {
      case NodeKind::Absent:
        return true;
      case NodeKind::Input:
        return x.position == y.position && equal_in(a.types[0], b.types[0]);
      case NodeKind::Constant:
        return same(*a.constant, *b.constant);
      case NodeKind::Call:
        return equal_in(a.attrs, b.attrs);
      case NodeKind::Opaque:
        break;
    }
    return same_opaque(a, b);
  }

  SymbolMap symbols_;
  std::vector<Entry> entries_;
  std::unordered_map<uint64_t, std::vector<int32_t>> index_;
  std::unordered_set<int32_t> taken_;  ///< classes of nodes that are not pure, of this graph
};

}  // namespace

bool same_opaque(const Node& a, const Node& b) {
  if (a.content != b.content || a.pure != b.pure || a.types.size() != b.types.size()) return false;
  return a.constant && b.constant ? same(*a.constant, *b.constant) : !a.constant && !b.constant;
}

std::vector<uint64_t> value_hashes(const Graph& g) {
  std::vector<uint64_t> hashes(static_cast<size_t>(g.id_bound()), 0);
  std::vector<int32_t> positions = input_positions(g);
  Occurrences seen;
  for (int32_t id : full_order(g))
    hashes[static_cast<size_t>(id)] =
        node_hash(g, id, positions[static_cast<size_t>(id)], hashes, seen);
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
  Classes classes;
  std::vector<int32_t> of_a = classes.classify(a, *order_a), of_b = classes.classify(b, *order_b);
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
  std::vector<int32_t> of = Classes().classify(g, *order);
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

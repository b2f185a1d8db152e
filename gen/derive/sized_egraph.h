#pragma once
// Terms at given sizes in an e-graph, with a record of why two values are equal; calls of constants
// are folded. Source: proofs from congruence closure that keep every equation (Flatt et al., Small
// Proofs from Congruence Closure, FMCAD 2022).
#include <map>
#include <set>

#include "ir/egraph/egraph.h"
#include "ir/graph/eval.h"

namespace regraft::gen {

/// What makes two values equal.
struct Reason {
  int rule = -1;  ///< -1: congruence, the operands are equal in pairs; or folding
  std::vector<std::pair<EValue, EValue>> premises;  ///< equal already, and needed
};

/// Each node is one output of a call, or a leaf, so a node and its value have the same number. Not
/// thread-safe.
class SizedEGraph {
 public:
  /// A tensor of which nothing is known but its extents.
  EValue add_leaf(std::vector<int64_t> shape);
  /// Output `output` of a call; the node that is there when there is one. nullopt: the operator
  /// does not accept these operands. Axes are counted from the front. What depends on no leaf is
  /// equal to all that has the same value.
  std::optional<EValue> add(const OpDef& op, Attrs<int64_t> attrs, int output,
                            std::span<const EValue> operands);
  /// What must be equal for `call` to be the call of these operands: the two differ where they were
  /// made one. REQUIRES: they are equal.
  std::vector<std::pair<EValue, EValue>> differences(EValue call,
                                                     std::span<const EValue> operands) const;
  /// Makes two values equal. False when they are equal already, which is kept as one more reason,
  /// or their shapes differ.
  bool merge(EValue a, EValue b, Reason reason);
  /// Restores congruence after merges.
  void rebuild();

  const EGraph& classes() const { return graph_; }
  bool equal(EValue a, EValue b) const { return graph_.equal(a, b); }
  size_t node_count() const { return graph_.node_count(); }
  const std::vector<int64_t>& shape(EValue v) const { return shapes_[index(v)]; }
  /// Calls of the smallest term known for the value's class, shared parts counted each time.
  int32_t term_size(EValue v) const { return facts_[index(graph_.find(v))].term_size; }
  /// REQUIRES: no leaf.
  const Attrs<int64_t>& attrs(EValue v) const { return labels_[graph_.symbol(v).label].attrs; }

  /// Rules that a proof of a = b uses: a short one, by the cheapest chains of reasons. REQUIRES:
  /// they are equal.
  std::set<int> rules_between(EValue a, EValue b) const;

 private:
  struct Label {
    const OpDef* op = nullptr;
    Attrs<int64_t> attrs;
  };
  /// A reason and the values that it makes equal. Edges are in the order of their making: the
  /// premises of one follow from earlier ones.
  struct Edge {
    EValue a = -1, b = -1;
    Reason reason;
  };
  /// What is known of a class.
  struct Facts {
    int32_t term_size = 1;
    EValue constant = -1;  ///< a value of the class that is in constants_; -1: unknown
  };
  static size_t index(EValue v) { return static_cast<size_t>(v); }
  uint64_t intern(Label label);
  EValue add_node(const ESymbol& symbol, std::vector<int64_t> shape,
                  std::span<const EValue> operands);
  void fold(EValue v);
  void connect(EValue a, EValue b, Reason reason);
  /// The cheapest chain of edges below `before` from a to b.
  std::vector<uint32_t> path(EValue a, EValue b, uint32_t before, const std::set<int>& used) const;
  uint32_t cost(const Edge& edge, const std::set<int>& used) const;

  EGraph graph_;
  std::vector<std::vector<int64_t>> shapes_;
  std::vector<Edge> edges_;
  std::vector<std::vector<uint32_t>> edges_of_;  // by value
  std::vector<Facts> facts_;                     // by oldest value
  std::vector<Label> labels_;
  std::unordered_multimap<uint64_t, uint64_t> label_ids_;
  std::unordered_map<EValue, Array<Residue>> constants_;
  struct Folded {
    EValue value = -1;
    Reason reason;  ///< for what it is
  };
  std::map<std::vector<uint64_t>, Folded> by_value_;  ///< by rank, extents, elements
};

}  // namespace regraft::gen

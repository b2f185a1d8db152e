#pragma once
// Terms at given sizes up to equality: hash-consed calls in classes of equal values, closed under
// congruence, with a record of why two values are equal; calls of constants are folded. Source: egg
// (POPL 2021), proof forests.
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/graph/eval.h"
#include "ir/ops/op.h"

namespace regraft::gen {

using NodeId = int32_t;  ///< one output of a call, or a leaf; stands for its class as well

/// What makes two nodes equal.
struct Reason {
  int rule = -1;  ///< -1: congruence, the operands are equal in pairs; or folding
  std::vector<std::pair<NodeId, NodeId>> premises;  ///< equal already, and needed
};

/// Not thread-safe.
class EGraph {
 public:
  /// A tensor of which nothing is known but its extents.
  NodeId add_leaf(std::vector<int64_t> shape);
  /// Output `output` of a call; the node that is there when there is one. nullopt: the operator
  /// does not accept these operands. Axes are counted from the front. What depends on no leaf is
  /// equal to all that has the same value.
  std::optional<NodeId> add(const OpDef& op, Attrs<int64_t> attrs, int output,
                            const std::vector<NodeId>& operands);
  /// Makes two nodes equal. False when they are equal already or their shapes differ.
  bool merge(NodeId a, NodeId b, Reason reason);
  /// Restores congruence after merges.
  void rebuild();

  NodeId find(NodeId n) const;  ///< the same for nodes that are equal
  bool equal(NodeId a, NodeId b) const { return find(a) == find(b); }
  size_t node_count() const { return nodes_.size(); }
  const std::vector<int64_t>& shape(NodeId n) const;
  /// Calls of the smallest term known for the node's class, shared parts counted each time.
  int32_t term_size(NodeId n) const { return class_of(n).term_size; }

  struct Label {
    const OpDef* op = nullptr;
    Attrs<int64_t> attrs;
    int output = 0;
  };
  const Label& label(NodeId n) const;  ///< REQUIRES: no leaf
  std::span<const NodeId> operands(NodeId n) const;
  bool is_leaf(NodeId n) const { return nodes_[index(n)].label < 0; }
  /// Equal to an older node in operator and operands: of no use to a matcher.
  bool is_duplicate(NodeId n) const { return nodes_[index(n)].duplicate; }
  const std::vector<NodeId>& members(NodeId n) const { return class_of(n).nodes; }
  /// Calls with an operand in the node's class.
  const std::vector<NodeId>& users(NodeId n) const { return class_of(n).users; }
  /// All nodes of an operator and output, oldest first.
  const std::vector<NodeId>& nodes_of(const OpDef& op, int output) const;

  /// Rules that a chain of reasons between two equal nodes uses.
  std::set<int> rules_between(NodeId a, NodeId b) const;

 private:
  struct Node {
    int32_t label = -1, shape = 0;
    size_t first_operand = 0, arity = 0;
    bool duplicate = false;
    NodeId toward = -1;  ///< the next node in the forest of reasons; -1: a root
    size_t reason = 0;   ///< of that step
  };
  struct Class {
    std::vector<NodeId> nodes, users;
    int32_t term_size = 1;
    NodeId constant = -1;  ///< a node of the class whose value is in constants_; -1: unknown
  };
  static size_t index(NodeId n) { return static_cast<size_t>(n); }
  const Class& class_of(NodeId n) const { return classes_[index(find(n))]; }
  int32_t intern_label(Label label);
  int32_t intern_shape(const std::vector<int64_t>& shape);
  NodeId add_node(int32_t label, int32_t shape, const std::vector<NodeId>& operands);
  uint64_t key_of(int32_t label, std::span<const NodeId> operands) const;
  bool same_key(NodeId n, int32_t label, std::span<const NodeId> operands) const;
  std::optional<NodeId> lookup(int32_t label, std::span<const NodeId> operands) const;
  void rekey(NodeId n);
  void fold(NodeId n);
  void make_root(NodeId n);
  /// The steps from a to b in the forest, as nodes whose `toward` step is on the way.
  std::vector<NodeId> path(NodeId a, NodeId b) const;
  std::vector<std::pair<NodeId, NodeId>> operand_pairs(NodeId a, NodeId b) const;

  std::vector<Node> nodes_;
  std::vector<NodeId> operands_;
  mutable std::vector<NodeId> parent_;
  std::vector<Class> classes_;
  std::vector<NodeId> dirty_;
  std::unordered_map<NodeId, Array<Residue>> constants_;
  struct Folded {
    NodeId node = -1;
    Reason reason;  ///< for its value
  };
  std::map<std::vector<uint64_t>, Folded> by_value_;  ///< by rank, extents, elements
  std::vector<Reason> reasons_;
  std::vector<Label> labels_;
  std::vector<std::vector<int64_t>> shapes_;
  std::unordered_multimap<uint64_t, int32_t> label_ids_, shape_ids_;
  std::unordered_multimap<uint64_t, NodeId> ids_;
  std::unordered_map<uint64_t, std::vector<NodeId>> by_op_;
};

}  // namespace regraft::gen

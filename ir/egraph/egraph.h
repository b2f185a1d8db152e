#pragma once
// E-graph: calls whose operands are classes of equal values. Hash-consed and, after `rebuild`,
// closed under congruence. Source: egg (Willsey et al., POPL 2021).
#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/ops/op.h"

namespace regraft {

using ENodeId = int32_t;  ///< numbered from 0 in the order of adding
using EValue = int32_t;   ///< an output of an e-node, numbered likewise; stands for its e-class too

/// What a call computes of its operands.
struct ESymbol {
  const OpDef* op = nullptr;  ///< nullptr: no call; equal to no other node by congruence
  uint64_t label = 0;         ///< given by the user: equal for equal operators and attributes
  int32_t first_output = 0;   ///< a node may stand for some outputs of a call only
  int32_t outputs = 1;
};

/// Knows operators only by whether they commute. What is known of classes (an e-class analysis) is
/// its user's, who joins it when classes become one: the older class, the one with the lowest
/// value, gives its name to both. A value may depend on itself. Not thread-safe.
class EGraph {
 public:
  /// A node with a class for each output. Calls may be added while there is no equal one.
  ENodeId add(const ESymbol& symbol, std::span<const EValue> operands);
  /// The same in two steps, where operands may come later than their users: `connect` gives a node
  /// its operands, and the next `rebuild` merges it with an equal one.
  ENodeId add_unconnected(const ESymbol& symbol);
  void connect(ENodeId n, std::span<const EValue> operands);
  /// The oldest node that is this call. Between unions and `rebuild` it may be missed.
  std::optional<ENodeId> lookup(const ESymbol& symbol, std::span<const EValue> operands) const;

  /// Makes two values equal. False: they were.
  bool unite(EValue a, EValue b);
  /// Restores congruence. `join(newer, older)` is called for each pair of nodes that have become
  /// the same call, and unites their outputs. `newer` is a duplicate from then on.
  template <class Join>
  void rebuild(Join&& join);

  size_t node_count() const { return nodes_.size(); }
  size_t duplicates() const { return duplicates_; }
  EValue find(EValue v) const;  ///< the oldest value of its class
  bool equal(EValue a, EValue b) const { return find(a) == find(b); }
  /// The values of a class that are no duplicates', in the order of joining.
  const std::vector<EValue>& members(EValue v) const { return class_of(v).members; }
  /// Calls with an operand in a class, oldest first; duplicates among them.
  const std::vector<ENodeId>& users(EValue v) const { return class_of(v).users; }
  /// All calls of an operator, oldest first; duplicates among them.
  const std::vector<ENodeId>& calls_of(const OpDef& op) const;

  const ESymbol& symbol(ENodeId n) const { return node(n).symbol; }
  std::span<const EValue> operands(ENodeId n) const;
  /// The node that stands for this one: itself, or an older one that is the same call.
  ENodeId twin(ENodeId n) const;
  bool is_duplicate(ENodeId n) const { return node(n).twin != n; }
  ENodeId node_of(EValue v) const { return node_of_[index(v)]; }
  int32_t output_of(EValue v) const;  ///< which output of its call it is
  bool has_output(ENodeId n, int32_t output) const {
    return static_cast<uint32_t>(output - symbol(n).first_output) <
           static_cast<uint32_t>(symbol(n).outputs);
  }
  /// REQUIRES: has_output.
  EValue value(ENodeId n, int32_t output) const;

 private:
  struct Node {
    ESymbol symbol;
    size_t first_operand = 0, arity = 0;
    EValue first_value = 0;
    ENodeId twin = 0;
  };
  struct Class {
    std::vector<EValue> members;
    std::vector<ENodeId> users;
  };
  static size_t index(int32_t k) { return static_cast<size_t>(k); }
  const Node& node(ENodeId n) const { return nodes_[index(n)]; }
  const Class& class_of(EValue v) const { return classes_[index(find(v))]; }
  void set_operands(ENodeId n, std::span<const EValue> operands);
  uint64_t key_of(const ESymbol& symbol, std::span<const EValue> operands) const;
  bool is_call(ENodeId n, const ESymbol& symbol, std::span<const EValue> operands) const;
  /// Files a node under its present key. The newer and the older one when another node has it.
  std::optional<std::pair<ENodeId, ENodeId>> rekey(ENodeId n);
  void retire(ENodeId n, ENodeId twin);
  std::vector<ENodeId> take_pending();

  std::vector<Node> nodes_;
  std::vector<EValue> operands_;
  std::vector<ENodeId> node_of_;        // by value
  mutable std::vector<EValue> parent_;  // by value: union-find
  std::vector<Class> classes_;          // by oldest value
  std::vector<ENodeId> pending_;        // whose keys are not up to date
  std::unordered_multimap<uint64_t, ENodeId> ids_;
  std::unordered_map<const OpDef*, std::vector<ENodeId>> by_op_;
  size_t duplicates_ = 0;
};

template <class Join>
void EGraph::rebuild(Join&& join) {
  while (!pending_.empty())
    for (ENodeId n : take_pending())
      if (auto pair = rekey(n)) join(pair->first, pair->second);
}

}  // namespace regraft

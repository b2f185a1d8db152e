#pragma once
// Many graphs in one: an e-graph over the values of a model.
#include "ir/egraph/egraph.h"
#include "rewrite/match/fit.h"

namespace regraft::rewrite {

/// Nodes are those of a LiveGraph, under the same numbers, so that types, forms and costs are
/// looked up as in a graph; what their operands are is known to `classes`. A class is named by its
/// oldest value. A value may depend on itself here: a graph is read out of it by choosing for each
/// class one of its values. Not thread-safe.
class ModelEGraph {
 public:
  /// A class for each value of g, equal calls merged. REQUIRES: g is acyclic. The interner
  /// outlives this.
  ModelEGraph(const Graph& g, Interner& interner);

  const LiveGraph& nodes() const { return nodes_; }
  const EGraph& classes() const { return graph_; }
  EValue number(Value v) const { return graph_.value(v.node, v.output); }
  Value value(EValue v) const { return {graph_.node_of(v), graph_.output_of(v)}; }
  /// The class of a value, by its oldest value.
  Value name(Value v) const { return value(graph_.find(number(v))); }
  /// The node that stands for this one; it is itself unless it became equal to another.
  int32_t node(int32_t id) const { return graph_.twin(id); }
  /// The values of a class, in the order of joining.
  std::vector<Value> members(Value name) const;
  /// Some value of the class depends on constants only.
  bool constant(Value v) const { return constant(number(v)); }
  /// False: no value of the class is of a call of an operator with this trait, or data.
  bool may_have(EValue v, uint64_t traits) const {
    return (traits_[static_cast<size_t>(graph_.find(v))] & traits) != 0;
  }
  static constexpr uint64_t kData = 1;  ///< a trait: known numbers
  /// That operators share with few others, the same in each run.
  static uint64_t trait_of(const OpDef& op);
  /// Nodes that are no duplicates.
  int32_t size() const { return alive_ - static_cast<int32_t>(graph_.duplicates()); }

  /// The node that is this call of the classes of these values; -1: there is none. Between unions
  /// and `rebuild` it may be missed.
  int32_t find(FormId form, std::span<const Value> operands, TypeId type) const;
  /// The same, made where there is none.
  int32_t add(const Fit::Call& call, std::span<const Value> operands);
  /// Makes two values equal. False: they were.
  bool unite(Value a, Value b) { return unite(number(a), number(b)); }
  /// Merges the nodes that unions have made equal, and so on. Nodes and names may be stale before.
  void rebuild();

 private:
  bool constant(EValue v) const { return constant_[static_cast<size_t>(graph_.find(v))] != 0; }
  ESymbol symbol(FormId form, TypeId type, size_t outputs) const;
  std::vector<EValue> numbers(std::span<const Value> values) const;
  bool unite(EValue a, EValue b);
  void find_constants(EValue v);
  void add_traits(int32_t id);
  void unite_equal_data(int32_t id);

  LiveGraph nodes_;
  EGraph graph_;
  std::vector<char> constant_;                    // by oldest value
  std::vector<uint64_t> traits_;                  // likewise, of all values of the class
  std::vector<EValue> united_;                    // classes that may have become constant
  std::unordered_map<int32_t, int32_t> by_data_;  // data -> the first node that has it
  int32_t alive_ = 0;                             // nodes, duplicates among them
};

}  // namespace regraft::rewrite

#pragma once
// Many graphs in one: values that are known to be equal form classes.
#include "rewrite/match/fit.h"

namespace regraft::rewrite {

/// Nodes are those of a LiveGraph, so that types, forms and costs are looked up as in a graph;
/// their operands are classes, written as the oldest value of each. No two nodes that count are the
/// same call of the same classes. A value may depend on itself here: a graph is read out of it by
/// choosing for each class one of its values. Not thread-safe.
class EGraph {
 public:
  /// A class for each value of g, equal calls merged. REQUIRES: g is acyclic. The interner
  /// outlives this.
  EGraph(const Graph& g, Interner& interner);

  const LiveGraph& nodes() const { return nodes_; }
  /// The class of a value, by its oldest value.
  Value name(Value v) const;
  /// The node that stands for this one; it is itself unless it became equal to another.
  int32_t node(int32_t id) const;
  bool counts(int32_t id) const { return node(id) == id; }
  /// The values of a class, in the order of joining.
  const std::vector<Value>& members(Value name) const { return classes_[number(name)].members; }
  /// Some value of the class depends on constants only.
  bool constant(Value name) const { return classes_[number(name)].constant; }
  int32_t size() const { return size_; }  ///< nodes that count

  /// The node that is this call of the classes of these values; -1: there is none. Between unions
  /// and `rebuild` it may be missed.
  int32_t find(FormId form, std::vector<Value> operands, TypeId type) const;
  /// The same, made where there is none.
  int32_t add(const Fit::Call& call, std::vector<Value> operands);
  /// Makes two values equal. False: they were.
  bool unite(Value a, Value b);
  /// Merges the nodes that unions have made equal, and so on. Nodes and names may be stale before.
  void rebuild();

 private:
  struct Class {
    Value parent;  ///< itself: the class is named after it
    std::vector<Value> members;
    bool constant = false;
  };
  size_t number(Value v) const {
    return static_cast<size_t>(first_[static_cast<size_t>(v.node)] + v.output);
  }
  void add_classes(int32_t id);
  void index(int32_t id);
  void unindex(int32_t id);
  int32_t twin(int32_t id) const;
  void merge_nodes(int32_t a, int32_t b);
  void rename_operand(int32_t user, Value from);
  void find_constants(Value name);

  LiveGraph nodes_;
  std::vector<int32_t> first_;  // by node: number of the class of its first output
  std::vector<Class> classes_;
  std::vector<int32_t> twins_;  // by node: a node it is equal to
  std::unordered_map<uint64_t, std::vector<int32_t>> by_content_;
  std::vector<Value> renamed_;  // no longer the names of their classes
  int32_t size_ = 0;
};

}  // namespace regraft::rewrite

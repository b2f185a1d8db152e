#pragma once
// Tensor programs: immutable nodes, cheap copies, stable identities.
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "ir/ops/op.h"

namespace regraft {

/// Output `output` of node `node`.
struct Value {
  int32_t node = -1;
  int32_t output = 0;
  auto operator<=>(const Value&) const = default;
};

enum class NodeKind : uint8_t {
  Input,     ///< a graph input, or a variable of a rule
  Constant,  ///< known data
  Call,      ///< an operator of the registry
  Opaque,    ///< a foreign operator: carried, never rewritten
  Absent,    ///< stands for an omitted optional input of an opaque node
};

/// Immutable once in a graph; shared between graphs.
struct Node {
  NodeKind kind = NodeKind::Call;
  const OpDef* op = nullptr;                 ///< Call
  Attrs<Poly> attrs;                         ///< Call
  std::vector<Value> inputs;                 ///< operands; Opaque: also what its sub-graphs capture
  std::vector<TensorType> types;             ///< one for each output
  std::shared_ptr<const Constant> constant;  ///< Constant; Opaque: data that it carries, if any
  Digest content;  ///< Opaque: of all that it is but its operands: type, attributes, bodies, data
  /// Opaque: what it computes, where that follows from the shapes of the graph's inputs; it then
  /// has no operands, and is written as a computation of its own.
  SizeTensorPtr sizes;
  bool pure = false;  ///< Opaque: equal content and operands mean equal outputs
  /// Index of the ONNX node that this is, unchanged up to the names of its inputs; -1: made by a
  /// rewrite.
  int32_t origin = -1;
  std::vector<std::string> names;  ///< of the outputs in the model; may be shorter or empty
  /// Calls of one number are computed together by the runtime that the graph is for, as long as all
  /// `together_count` of them are there; -1: alone.
  int32_t together = -1, together_count = 0;
};
using NodePtr = std::shared_ptr<const Node>;

/// A graph value: copying shares the nodes. Node ids are stable: an id is never reused, a removed
/// node is a null pointer. Invariant: acyclic, inputs exist, types of calls are inferred.
/// A const Graph may be read from several threads.
class Graph {
 public:
  Graph() : pool_(std::make_shared<SymbolPool>()) {}
  explicit Graph(std::shared_ptr<SymbolPool> pool) : pool_(std::move(pool)) {}

  SymbolPool& pool() const { return *pool_; }
  const std::shared_ptr<SymbolPool>& shared_pool() const { return pool_; }
  /// Ids below this bound; nodes may be null.
  int32_t id_bound() const { return static_cast<int32_t>(nodes_.size()); }
  bool contains(int32_t id) const { return nodes_[static_cast<size_t>(id)] != nullptr; }
  const Node& node(int32_t id) const { return *nodes_[static_cast<size_t>(id)]; }
  const NodePtr& node_ptr(int32_t id) const { return nodes_[static_cast<size_t>(id)]; }
  const TensorType& type(Value v) const {
    return node(v.node).types[static_cast<size_t>(v.output)];
  }
  const Shape& shape(Value v) const { return *type(v).shape; }  ///< REQUIRES: known
  const std::vector<Value>& inputs() const { return inputs_; }
  const std::vector<Value>& outputs() const { return outputs_; }
  int32_t node_count() const;  ///< without removed nodes

  Value add_input(TensorType type, std::string name = {});
  Value add_constant(std::shared_ptr<const Constant> data, std::string name = {});
  /// Infers the types. `on_require` receives what the sizes must satisfy; by default a
  /// requirement that is plainly false is an Error and any other is taken as given.
  Result<int32_t> add_call(const OpDef& op, std::vector<Value> operands, Attrs<Poly> attrs,
                           const std::function<void(const Formula&)>& on_require = {});
  /// Adds any node as it is. REQUIRES: types are set.
  int32_t add_node(Node node);
  void set_outputs(std::vector<Value> outputs) { outputs_ = std::move(outputs); }
  void replace_node(int32_t id, Node node) {
    nodes_[static_cast<size_t>(id)] = std::make_shared<const Node>(std::move(node));
  }
  void remove_node(int32_t id) { nodes_[static_cast<size_t>(id)] = nullptr; }

 private:
  std::shared_ptr<SymbolPool> pool_;
  std::vector<NodePtr> nodes_;
  std::vector<Value> inputs_, outputs_;
};

/// Types of a call's outputs; their element type is what OpDef::typed says.
Result<std::vector<TensorType>> infer_call(
    SymbolPool& pool, const OpDef& op, const std::vector<TensorType>& operands,
    const Attrs<Poly>& attrs, const std::function<void(const Formula&)>& on_require = {});
/// Live nodes (those the outputs or opaque side effects need, and all graph inputs), operands
/// first; deterministic for a given graph. An Error when the graph has a cycle.
Result<std::vector<int32_t>> topological_order(const Graph& g);
/// Every node that exists, dead or alive, operands first, otherwise by id. REQUIRES: no cycle.
std::vector<int32_t> full_order(const Graph& g);
/// For each id: the (consumer id, operand index) pairs, in id order.
std::vector<std::vector<std::pair<int32_t, int32_t>>> consumers(const Graph& g);
/// Drops dead nodes (never inputs).
void remove_dead(Graph& g);
/// Redirects every use of `from` (operands and graph outputs) to `to`.
void replace_uses(Graph& g, Value from, Value to);
/// Hash of what each value computes, by id (combine with the output index); independent of ids and
/// names, aware of commutativity; inputs count by their position, constants by their content,
/// opaque nodes that are not pure by how many like them come before. Finds; to know, compare.
std::vector<uint64_t> value_hashes(const Graph& g);
/// Hash of the outputs' values. Equal for graphs that are equal up to ids and commuted operands.
uint64_t structural_hash(const Graph& g);
/// Exact: equal up to ids, order and commuted operands. Constants are equal when all their bytes
/// are, opaque nodes when their digests are; of those that are not pure the k-th of one graph is
/// the k-th of the other.
bool structurally_equal(const Graph& a, const Graph& b);
/// Opaque nodes of the same content and data. Their operands are not looked at.
bool same_opaque(const Node& a, const Node& b);
/// Invariants of a graph; for tests and debug builds.
Status validate(const Graph& g);
/// The canonical form: dead code dropped, equal calls merged, ids in topological order.
Graph canonical(const Graph& g);
/// True for each id whose value depends on no graph input and is no opaque node.
std::vector<char> constant_nodes(const Graph& g);

}  // namespace regraft

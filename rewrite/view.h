#pragma once
// A graph with what matching, planning and costing ask of it again and again.
#include <unordered_map>

#include "cost/cost_model.h"
#include "ir/graph.h"

namespace regraft::rewrite {

/// Immutable once made; may be read from several threads. Owns its graph.
struct GraphView {
  Graph graph;                                                 ///< without dead nodes
  std::vector<int32_t> order;                                  ///< operands first
  std::vector<int32_t> position;                               ///< by id: index in `order`, or -1
  std::vector<std::vector<std::pair<int32_t, int32_t>>> uses;  ///< by id: (consumer, operand)
  std::vector<int32_t> use_count;  ///< by id: uses, graph outputs included
  std::vector<char> constant;      ///< by id: depends on constants only
  std::vector<double> cost;        ///< by id: microseconds at run time
  std::unordered_map<const OpDef*, std::vector<int32_t>> by_op;  ///< calls, operands first
  std::unordered_multimap<uint64_t, int32_t> by_content;         ///< content_hash -> calls

  const Node& node(int32_t id) const { return graph.node(id); }
  /// How often exactly this value is read, graph outputs included.
  int32_t uses_of(Value v) const;
  /// The call of `op` with these attributes and operands (commuted ones count as equal), or -1.
  int32_t find_call(const OpDef& op, const Attrs<Poly>& attrs,
                    const std::vector<Value>& inputs) const;
  double total_cost() const;
};

/// REQUIRES: g is acyclic. Drops dead nodes.
GraphView make_view(Graph g, const cost::CostModel& model);
/// Equal for equal calls, commuted operands included.
uint64_t content_hash(const OpDef& op, const Attrs<Poly>& attrs, const std::vector<Value>& inputs);
/// Equal calls, commuted operands included.
bool same_inputs(const OpDef& op, const std::vector<Value>& a, const std::vector<Value>& b);

}  // namespace regraft::rewrite

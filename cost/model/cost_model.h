#pragma once
// What a graph costs: the seam between the searchers and whatever predicts or measures time.
#include <map>
#include <span>
#include <string>

#include "ir/graph/graph.h"

namespace regraft::cost {

/// What one operator call, or a whole graph, costs.
struct Cost {
  double microseconds = 0;
  double flops = 0;
  double bytes = 0;  ///< read and written
};
inline Cost operator+(const Cost& a, const Cost& b) {
  return {a.microseconds + b.microseconds, a.flops + b.flops, a.bytes + b.bytes};
}

/// Predicts the cost of one node. Implementations are deterministic and may be called from several
/// threads at once.
class CostModel {
 public:
  virtual ~CostModel() = default;
  /// `operands` are the types of the node's inputs. Inputs, constants and absent values cost
  /// nothing; whether a call depends only on constants, and so costs nothing at run time, is the
  /// caller's knowledge (see constant_nodes). An opaque node has no operations, but its known bytes
  /// count.
  virtual Cost cost(const Node& node, std::span<const TensorType> operands) const = 0;
  /// The model and its parameters, in one line.
  virtual std::string description() const = 0;
};

/// The types of a node's inputs.
std::vector<TensorType> operand_types(const Graph& g, const Node& node);

/// Totals of a graph, without dead nodes and those that depend only on constants.
struct GraphCost {
  Cost total;
  int64_t calls = 0;                           ///< operator calls at run time, opaque ones included
  std::map<std::string, int64_t> calls_by_op;  ///< opaque ones under "opaque"
};
/// REQUIRES: g is acyclic.
GraphCost graph_cost(const CostModel& model, const Graph& g);

}  // namespace regraft::cost

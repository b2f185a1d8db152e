#pragma once
// From a graph of operator calls to the symbolic element of an output.
#include <vector>

#include "ir/algebra/symbolic.h"
#include "ir/graph/graph.h"

namespace regraft::verify {

/// Lazily composes the operators' formulas. The graph must outlive it and consist of inputs and
/// calls.
class Lowering {
 public:
  /// Requirements that the formulas state on the way go to `algebra.on_require`.
  Lowering(const Graph& graph, Symbolic& algebra) : graph_(graph), algebra_(algebra) {}
  /// The element of a value at a position. Throws OutOfBudget when the formula is too large.
  Sum element(Value v, std::span<const Poly> position);
  /// False when a node is neither an input nor a call of known shape.
  bool supported() const;

 private:
  SymbolicTensor tensor(Value v);
  const Graph& graph_;
  Symbolic& algebra_;
  int depth_ = 0;
  int64_t left_ = 50'000;  ///< factors of elements, with their arguments, that may be made yet
};

}  // namespace regraft::verify

#pragma once
// Two graphs as one program in which equal computations are one. Inside rewrite/ only.
#include <array>

#include "ir/graph/graph.h"

namespace regraft::rewrite {

/// A node of either graph or of both.
struct JointNode {
  const Graph* graph = nullptr;  ///< the one that `node` is from
  const Node* node = nullptr;
  int32_t input = -1;          ///< position among the graph inputs
  std::vector<Value> inputs;   ///< in joint numbers
  std::vector<Value> partner;  ///< opaque pair: the other graph's operands
  std::array<bool, 2> in{};    ///< which graphs it is in
};

struct Joint {
  std::vector<JointNode> nodes;               ///< operands first
  std::array<std::vector<Value>, 2> outputs;  ///< of both graphs, in joint numbers
};

/// REQUIRES: as many inputs in both graphs. An Error when the two graphs use their opaque nodes in
/// an order that excludes each other.
Result<Joint> join(const Graph& a, const Graph& b);

}  // namespace regraft::rewrite

#pragma once
// Nodes that compute the same are one node (CSE).
#include <unordered_map>

#include "ir/graph/graph.h"

namespace regraft {

/// Calls, constants and opaque nodes that are pure, of one graph, by what they compute.
class EqualNodes {
 public:
  explicit EqualNodes(const Graph& g) : g_(g) {}
  /// A node of the graph that computes what `node` would; -1: there is none so far.
  int32_t find(const Node& node) const;
  void add(int32_t id);

 private:
  const Graph& g_;
  std::unordered_multimap<uint64_t, int32_t> nodes_;
};

}  // namespace regraft

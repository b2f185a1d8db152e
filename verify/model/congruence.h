#pragma once
// Which nodes of a graph compute the same of the same operands.
#include <unordered_map>
#include <vector>

#include "ir/graph/graph.h"

namespace regraft::verify {

/// Nodes by what they compute of operands that their user names, so that operands which were shown
/// to be equal have one name. Not thread-safe.
class Congruence {
 public:
  explicit Congruence(const Graph& g) : g_(g) {}
  /// The first node added that computes what `node` does of these operands, and has all of
  /// its outputs; -1: none so far.
  int32_t find(const Node& node, std::vector<Value> operands) const;
  /// Adds node `id` of the graph. Of opaque nodes that are not pure each is only itself.
  void add(int32_t id, std::vector<Value> operands);

 private:
  struct Entry {
    int32_t id;
    std::vector<Value> operands;
  };
  const Graph& g_;
  std::unordered_multimap<uint64_t, Entry> entries_;
};

}  // namespace regraft::verify

#pragma once
// A part of a graph as a graph of its own, to be searched apart from the rest.
#include "rewrite/engine/engine.h"

namespace regraft::rewrite {

/// What a part has in place of calls on constants alone: these calls, or constants of their types
/// that cannot be read, which is enough for a price and makes it several times smaller.
enum class Computed : uint8_t { Calls, Unread };

/// Some calls of a graph with the constants that they read. What they read from elsewhere are
/// inputs, what is read elsewhere are outputs. Numbers of nodes are in the order of those in the
/// whole, so that moves in both are the same up to numbers.
class Part {
 public:
  /// `calls` are in the whole and not constant.
  Part(const LiveGraph& whole, std::span<const int32_t> calls, Computed computed = Computed::Calls);
  const Graph& graph() const { return graph_; }
  const std::vector<int32_t>& calls() const { return calls_; }  ///< in the whole
  /// Nodes of the whole that the calls read and that are not among them, but for constants.
  const std::vector<int32_t>& sources() const { return sources_; }
  /// The move in the whole.
  Move in_whole(const Move& m) const;
  /// The next new node of the part is node `id` of the whole.
  void add(int32_t id) { whole_.push_back({id, kNode}); }

 private:
  static constexpr int32_t kNode = -1;  ///< as an output: the node itself
  void number(const LiveGraph& whole, Computed computed);
  void build(const LiveGraph& whole);
  Value local(Value v) const;

  Graph graph_;
  std::vector<int32_t> calls_, sources_;
  std::vector<Value> whole_;  // by number in the part: a node, or the value that an input is
};

}  // namespace regraft::rewrite

#pragma once
// Graphs as the moves that lead to them.
#include "rewrite/engine/engine.h"

namespace regraft::rewrite {

/// A tree of moves. Node 0 is the original graph.
class Paths {
 public:
  explicit Paths(double cost) { nodes_.push_back({-1, 0, {0, {}, {}, cost, 0}}); }
  int32_t add(int32_t parent, Move move);
  double cost(int32_t node) const { return at(node).move.cost; }
  int32_t rule(int32_t node) const { return at(node).move.rule; }
  int32_t parent(int32_t node) const { return at(node).parent; }
  size_t depth(int32_t node) const { return at(node).depth; }
  size_t size() const { return nodes_.size(); }
  /// The moves from the original on.
  std::vector<Move> moves(int32_t node) const;
  /// Takes the engine from graph `from` to graph `to`: back to what their ways have in common, then
  /// forth. REQUIRES: the engine made the moves of `from`, and committed none.
  void go(Engine& engine, int32_t from, int32_t to) const;

 private:
  struct Node {
    int32_t parent;
    uint32_t depth;
    Move move;
  };
  const Node& at(int32_t node) const { return nodes_[static_cast<size_t>(node)]; }
  std::vector<Node> nodes_;
};

}  // namespace regraft::rewrite

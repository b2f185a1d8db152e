#pragma once
// What paid in a window, to be done again in windows that are like it.
#include <optional>

#include "rewrite/engine/engine.h"

namespace regraft::rewrite {

/// What a window's nodes and the values that it reads are called in the graph, in an order that is
/// the same in windows that are alike.
struct WindowNames {
  std::vector<int32_t> nodes;
  std::vector<Value> outside;
  int32_t first_new = 0;  ///< nodes from here on were made by moves in the window
};

/// Moves by places in WindowNames instead of numbers of nodes. Valid in all windows that are alike.
class Recipe {
 public:
  /// Nothing: a move is about a node that has no name, such as a constant behind a constant.
  static std::optional<Recipe> of(std::span<const Move> moves, const WindowNames& names);
  size_t size() const { return moves_.size(); }
  /// The k-th move as it is in the graph that the names are of.
  Move move(size_t k, const WindowNames& names) const;

 private:
  std::vector<Move> moves_;  // nodes: as numbered by `place`; values too, with their output
};

}  // namespace regraft::rewrite

#pragma once
// Observations as a network reads them, where what it would compute several times occurs once.
#include <span>

#include "rl/environment/observation.h"
#include "rl/network/network_options.h"
#include "rl/nn/parameters.h"

namespace regraft::rl {

/// Lists of numbers, one after the other.
struct NumberLists {
  std::vector<int32_t> first{0}, items;
  size_t size() const { return first.size() - 1; }
  std::span<const int32_t> operator[](size_t k) const {
    return std::span(items).subspan(static_cast<size_t>(first[k]),
                                    static_cast<size_t>(first[k + 1] - first[k]));
  }
  void add(std::span<const int32_t> list) {
    items.insert(items.end(), list.begin(), list.end());
    first.push_back(static_cast<int32_t>(items.size()));
  }
  /// Of each item the number of its list.
  std::vector<int32_t> owners() const;
};

/// Observations as one graph without edges between them. Nodes, edges and matches that cannot be
/// told apart by as many rounds of messages (colour refinement, Weisfeiler & Leman 1968) have the
/// same embedding, in whichever observations they are: they are one row. Keeps nothing of the
/// observations.
struct Batch {
  Batch() = default;  ///< of none
  Batch(std::span<const Observation* const> observations, const NetworkOptions& options);
  /// Of some of these observations, by number.
  Batch part(std::span<const int32_t> chosen) const;

  /// Nodes and edges as they are before the first round, or after one.
  struct Level {
    // After a round, what a row is computed from: rows before the round, and rows of edges after it
    // that lead in and out.
    std::vector<int32_t> edge, source, target;  ///< by edge
    std::vector<int32_t> node;                  ///< by node
    NumberLists in, out;
    NumberLists edges, nodes;  ///< by observation: the rows of its edges, and of its nodes
    /// By edge and by node: the first observation that has it. With messages through the graph none
    /// is of several.
    std::vector<int32_t> edge_graph, node_graph;
  };
  int64_t size = 0;                             ///< observations
  std::vector<Level> levels;                    ///< one more than rounds
  nn::Matrix<float> node, edge, match, global;  ///< rows of features: of the first level; of
                                                ///< matches; of observations
  std::vector<int32_t> op;                      ///< by node of the first level
  std::vector<int32_t> rule;                    ///< by match
  NumberLists inside, near;                     ///< of nodes of the last level
  std::vector<int32_t> inside_of, near_of;      ///< by match: one of these lists
  NumberLists matches;                          ///< by observation: their rows
  /// Actions are the matches of each observation and then to stop: where each observation's begin,
  /// and the end of the last.
  std::vector<int32_t> first_action;
};

}  // namespace regraft::rl

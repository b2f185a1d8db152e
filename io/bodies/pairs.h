#pragma once
// The If, Loop and Scan nodes of two models that differ in their bodies, to be compared.
#include "io/bodies/bodies.h"

namespace regraft::io {

/// Two bodies that stand for each other, with the same inputs: the formal ones, and what they
/// capture from outside.
struct BodyPair {
  std::string where;  ///< as describe names the first
  Imported first, second;
  /// They capture the same names, but for constants: where they differ, the nodes do. Otherwise
  /// what one of them captures may follow from what the other does.
  bool certain = false;
};
/// Two nodes that are alike but for their bodies.
struct NodePair {
  int32_t first = 0, second = 0;  ///< in the graphs
  std::vector<BodyPair> bodies;
  std::vector<std::pair<std::string, std::string>> captured;  ///< what stands for each other
};
/// Nodes are paired by the name of their first output, else by origin, as rewrite::compare pairs
/// them. What bodies capture stands for each other where it has one name; the rest by its order
/// where both have as many. Left out are nodes whose bodies are the same, and those of which a body
/// is no graph.
std::vector<NodePair> differing_bodies(const Imported& a, const Imported& b);

/// Makes the two nodes one to rewrite::compare: nodes of one content, whose operands are their
/// inputs and the captured values that stand for each other. Right where each two bodies compute
/// the same: then a value that only one of them captures has no influence. `first` and `second`
/// were copied from the graphs of a and b.
void equate(const Imported& a, const Imported& b, const NodePair& pair, Graph& first,
            Graph& second);

}  // namespace regraft::io

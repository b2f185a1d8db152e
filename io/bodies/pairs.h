#pragma once
// The If, Loop and Scan nodes of two models that differ in their bodies, to be compared.
#include "io/bodies/bodies.h"

namespace regraft::io {

/// Two bodies that stand for each other, with the same inputs: the formal ones, and what either
/// captures from outside under one name.
struct BodyPair {
  std::string where;  ///< as describe names the first
  Imported first, second;
};
/// Two nodes that are alike but for their bodies.
struct NodePair {
  int32_t first = 0, second = 0;  ///< in the graphs
  std::vector<BodyPair> bodies;
};
/// Nodes are paired by the name of their first output, else by origin, as rewrite::compare pairs
/// them. Left out are those whose bodies are the same, and those of which a body is no graph.
std::vector<NodePair> differing_bodies(const Imported& a, const Imported& b);

/// Makes the two nodes one to rewrite::compare: nodes of one content, whose operands are their
/// inputs and the values that both capture under one name. Right where each two bodies compute the
/// same: then a value that only one of them captures has no influence. `first` and `second` were
/// copied from the graphs of a and b.
void equate(const Imported& a, const Imported& b, const NodePair& pair, Graph& first,
            Graph& second);

}  // namespace regraft::io

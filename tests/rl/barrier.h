#pragma once
// Graphs where what pays most begins with what costs.
#include "tests/rl/graphs.h"

namespace regraft::rl {

/// Transposes that cancel after an uphill step, `count` times.
inline Graph valleys(int count) {
  Graph g;
  Value v = input(g, {Poly(16), Poly(16)});
  auto transpose = [&](Value x) { return call(g, "transpose", {x}, {{1, 0}}); };
  for (int k = 0; k < count; ++k) {
    Value w = input(g, {Poly(16), Poly(16)});
    v = call(g, "tanh", {transpose(call(g, "add", {transpose(v), transpose(w)}))});
  }
  g.set_outputs({v});
  return g;
}

inline const rewrite::RuleIndex& barrier_rules() {
  static const rewrite::RuleIndex index =
      rewrite::index_of({rewrite::kReluTwice, rewrite::kTransposeTwice, rewrite::kTransposeAdd,
                         rewrite::kAddAssociate, rewrite::kAddCommute});
  return index;
}

inline size_t count_of(const Graph& g, const std::string& op) {
  auto calls = cost::graph_cost(roofline(), g).calls_by_op;
  auto at = calls.find(op);
  return at == calls.end() ? 0 : static_cast<size_t>(at->second);
}

}  // namespace regraft::rl

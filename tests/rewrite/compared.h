#pragma once
// What tests of the numeric check share.
#include "rewrite/compare/compare.h"
#include "tests/rewrite/support.h"

namespace regraft::rewrite {

/// `runs` of them, or all regimes.
inline CheckReport check(const Graph& a, const Graph& b, int runs = 0) {
  CheckOptions options;
  options.seed = 5;
  options.runs = std::max(runs, 1);
  if (runs > 0) options.cheap_operations = 0;
  auto r = compare(a, b, options, Stop());
  EXPECT_TRUE(r.has_value()) << r.error().message;
  return r ? *r : CheckReport{};
}

inline Graph sum(const std::string& op, const Shape& shape) {
  Graph g;
  Value x = input(g, shape), y = input(g, shape);
  g.set_outputs({call(g, "relu", {call(g, op, {call(g, "tanh", {x}), y})})});
  return g;
}

inline Graph symbolic_sum(const std::string& op) {
  Graph g;
  Poly n = Poly::symbol(g.pool().named("batch")), m = Poly::symbol(g.pool().named("length"));
  Value x = input(g, {n, m}), y = input(g, {n, m});
  g.set_outputs({call(g, op, {x, y})});
  return g;
}

}  // namespace regraft::rewrite

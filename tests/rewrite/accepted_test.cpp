// Rewrites that no runtime would take, or that fail where a size is 0, are no candidates.
#include "tests/rewrite/support.h"

namespace regraft::rewrite {
namespace {

const std::string kToPool =
    "to-pool (reduce-mean ?a axes=2,3) => (global-avgpool ?a) for a:nnnn proved:all-sizes";
const std::string kFromPool =
    "from-pool (global-avgpool ?a) => (reduce-mean ?a axes=2,3) for a:nnnn proved:all-sizes";

size_t matches(const Graph& g, const std::string& rule, EngineOptions options = {17}) {
  RuleIndex rules = index_of({rule});
  cost::Roofline model;
  return Engine(g, rules, model, options).matches().size();
}

Value input_of(Graph& g, DType type, const Shape& shape) { return g.add_input({type, shape}); }

Graph mean(DType type, const Shape& shape) {
  Graph g;
  g.set_outputs({call(g, "reduce-mean", {input_of(g, type, shape)}, {{2, 3}, {1}})});
  return g;
}

TEST(Accepted, TheElementTypeMustRunAfterTheRewriteAsBefore) {
  EXPECT_EQ(matches(mean(DType::F32, {1, 2, 3, 4}), kToPool), 1u);
  EXPECT_EQ(matches(mean(DType::F16, {1, 2, 3, 4}), kToPool), 1u);
  EXPECT_EQ(matches(mean(DType::F64, {1, 2, 3, 4}), kToPool), 0u);
  EXPECT_EQ(matches(mean(DType::F64, {1, 2, 3, 4}), kToPool, {}), 1u);  // nothing is written
}

TEST(Accepted, AModelThatRunsElsewhereMayStayThere) {
  Graph g = mean(DType::F64, {1, 2, 3, 4});
  std::vector<Value> outputs = g.outputs();
  outputs.push_back(call(g, "global-avgpool", {g.inputs()[0]}));
  g.set_outputs(outputs);
  EXPECT_EQ(matches(g, kToPool), 1u);
  EXPECT_EQ(matches(mean(DType::BF16, {1, 2, 3, 4}), kToPool, {22}), 1u);
  EXPECT_EQ(matches(mean(DType::BF16, {1, 2, 3, 4}), kToPool, {21}), 0u);  // ONNX has none
}

TEST(Accepted, PadsAsLargeAsAKernelAreNotMade) {
  const std::string rule =
      "pad-pool (avgpool (pad ?a pads=0,0,1,1,0,0,1,1 value=0) kernel=?k include_pad=1) => "
      "(avgpool ?a kernel=?k pads=1,1,1,1 include_pad=1) for a:nnnn proved:all-sizes";
  for (int64_t kernel : {1, 2}) {
    Graph g;
    Value x = input(g, {1, 1, 6, 6});
    Value padded = call(g, "pad", {x}, {{0, 0, 1, 1, 0, 0, 1, 1}});
    g.set_outputs({call(g, "avgpool", {padded}, {{kernel, kernel}, {}, {}, {}, {1}})});
    EXPECT_EQ(matches(g, rule), kernel > 1 ? 1u : 0u);
  }
}

/// `op` over axis 0 of `inner`(x) for x of this shape.
Graph reduction(const char* op, const char* inner, int open_axis) {
  Graph g;
  Shape shape{3, 4};
  shape[static_cast<size_t>(open_axis)] = Poly::symbol(g.pool().named("N"));
  g.set_outputs({call(g, op, {call(g, inner, {input(g, shape)})}, {{0}, {1}})});
  return g;
}
std::string through(const std::string& op, const std::string& inner) {
  return "through (" + op + " (" + inner + " ?a) axes=0) => (" + inner + " (" + op +
         " ?a axes=0)) for a:nn proved:all-sizes";
}

TEST(Empties, WhatIsEmptyOnBothSidesAgrees) {
  for (const char* op : {"reduce-mean", "reduce-sum"})
    EXPECT_EQ(matches(reduction(op, "neg", 1), through(op, "neg")), 1u) << op;
  EXPECT_EQ(matches(reduction("reduce-max", "relu", 1), through("reduce-max", "relu")), 1u);
}

TEST(Empties, ASumOfNothingIsZeroAndAMeanOrMaximumIsNothing) {
  EXPECT_EQ(matches(reduction("reduce-sum", "neg", 0), through("reduce-sum", "neg")), 1u);
  EXPECT_EQ(matches(reduction("reduce-mean", "neg", 0), through("reduce-mean", "neg")), 0u);
  // -inf on the left, 0 on the right.
  EXPECT_EQ(matches(reduction("reduce-max", "relu", 0), through("reduce-max", "relu")), 0u);
  Graph g;
  Poly n = Poly::symbol(g.pool().named("N"));
  Value a = input(g, {2, n}), b = input(g, {n, 3}), c = input(g, {3, 4});
  g.set_outputs({call(g, "matmul", {call(g, "matmul", {a, b}), c})});
  EXPECT_EQ(matches(g, kAssociate), 1u);
}

TEST(Empties, TheRightSideMustRunWhereTheLeftDoes) {
  auto pooled = [](int axis) {
    Graph g;
    Shape shape{2, 3, 4, 5};
    shape[static_cast<size_t>(axis)] = Poly::symbol(g.pool().named("N"));
    g.set_outputs({call(g, "global-avgpool", {input(g, shape)})});
    return g;
  };
  for (int axis : {0, 2}) {
    Graph open;
    Shape shape{1, 2, 3, 4};
    shape[static_cast<size_t>(axis)] = Poly::symbol(open.pool().named("N"));
    open.set_outputs({call(open, "reduce-mean", {input(open, shape)}, {{2, 3}, {1}})});
    EXPECT_EQ(matches(open, kToPool), axis == 0 ? 1u : 0u);  // pooling nothing does not run
    EXPECT_EQ(matches(pooled(axis), kFromPool), 1u);         // nor did it before
  }
}

TEST(Empties, AllOfSeveralSizesMayBeZero) {
  Graph g;
  Poly n = Poly::symbol(g.pool().named("N")), m = Poly::symbol(g.pool().named("M"));
  g.set_outputs({call(g, "reduce-mean", {call(g, "neg", {input(g, {n, m})})}, {{0}, {1}})});
  EXPECT_EQ(matches(g, through("reduce-mean", "neg")), 0u);  // N = 0 and M = 1
}

}  // namespace
}  // namespace regraft::rewrite

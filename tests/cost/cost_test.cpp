#include <gtest/gtest.h>

#include <thread>

#include "cost/model/roofline.h"

namespace regraft::cost {
namespace {

Value input(Graph& g, const Shape& shape, DType type = DType::F32) {
  return g.add_input({type, shape});
}

Value call(Graph& g, std::string_view op, std::vector<Value> operands, Attrs<Poly> attrs) {
  auto id = g.add_call(*find_op(op), std::move(operands), std::move(attrs));
  EXPECT_TRUE(id.has_value());
  return {*id, 0};
}

Value simple(Graph& g, std::string_view op, std::vector<Value> operands) {
  auto rank = static_cast<int>(g.shape(operands[0]).size());
  return call(g, op, operands, default_attrs(*find_op(op), rank));
}

Cost cost_of(const CostModel& m, const Graph& g, Value v) {
  return m.cost(g.node(v.node), operand_types(g, g.node(v.node)));
}

TEST(Roofline, CountsOperationsAndBytes) {
  Graph g;
  Value a = input(g, {64, 128}), b = input(g, {128, 32});
  Cost c = cost_of(Roofline(), g, simple(g, "matmul", {a, b}));
  EXPECT_NEAR(c.flops, 2.0 * 64 * 128 * 32, 0.02 * 2 * 64 * 128 * 32);
  EXPECT_EQ(c.bytes, 4.0 * (64 * 128 + 128 * 32 + 64 * 32));
}

TEST(Roofline, IsBoundByTheLargerOfArithmeticAndTraffic) {
  Machine m;
  Roofline model(m);
  Graph g;
  Value a = input(g, {1024, 1024}), b = input(g, {1024, 1024});
  Cost product = cost_of(model, g, simple(g, "matmul", {a, b}));
  EXPECT_NEAR(product.microseconds,
              m.launch_microseconds + product.flops / (m.peak_gflops * 1e3 * m.high_efficiency), 1);
  Cost sum = cost_of(model, g, simple(g, "add", {a, b}));
  EXPECT_NEAR(sum.microseconds, m.launch_microseconds + sum.bytes / (m.bandwidth_gbytes * 1e3),
              1e-6);
}

TEST(Roofline, NothingIsFree) {
  Graph g;
  Value a = input(g, {64, 128});
  Cost moved = cost_of(Roofline(), g, call(g, "transpose", {a}, {{{1, 0}}, {}}));
  EXPECT_EQ(moved.flops, 0);
  EXPECT_EQ(moved.bytes, 2.0 * 4 * 64 * 128);
  EXPECT_GT(moved.microseconds, Machine{}.launch_microseconds);
}

TEST(Roofline, CopiesReadOnlyWhatTheyWrite) {
  Graph g;
  Value a = input(g, {1000, 8});
  int32_t parts = *g.add_call(*find_op("split"), {a}, {{{0}, {1, 999}}, {}});
  EXPECT_EQ(cost_of(Roofline(), g, {parts, 0}).bytes, 2.0 * 4 * 8000);
}

TEST(Roofline, HalfPrecisionMovesHalfTheBytes) {
  Graph g;
  Value a = input(g, {64, 64}), h = input(g, {64, 64}, DType::F16);
  EXPECT_EQ(cost_of(Roofline(), g, simple(g, "relu", {a})).bytes,
            2 * cost_of(Roofline(), g, simple(g, "relu", {h})).bytes);
}

TEST(Roofline, SymbolsCountAsTheirTypicalSize) {
  Graph g;
  Var n = g.pool().named("n");
  Value a = input(g, {Poly::symbol(n), 32}), b = input(g, {8, 32});
  Cost symbolic = cost_of(Roofline(), g, simple(g, "relu", {a}));
  EXPECT_EQ(symbolic.bytes, cost_of(Roofline(), g, simple(g, "relu", {b})).bytes);
  g.pool().set_typical(n, 80);
  EXPECT_EQ(cost_of(Roofline(), g, simple(g, "relu", {a})).bytes, 10 * symbolic.bytes);
}

TEST(Roofline, DescribesItsParameters) {
  EXPECT_NE(Roofline().description().find("160 GFLOP/s"), std::string::npos);
}

TEST(Roofline, GivesTheSameAnswerFromAllThreads) {
  Graph g;
  Value a = input(g, {64, 64});
  Value b = simple(g, "matmul", {a, a});
  Roofline model;
  double expected = cost_of(Roofline(), g, b).microseconds;
  std::vector<double> seen(8);
  {
    std::vector<std::jthread> pool;
    for (double& x : seen) pool.emplace_back([&] { x = cost_of(model, g, b).microseconds; });
  }
  for (double x : seen) EXPECT_EQ(x, expected);
}

TEST(GraphCost, LeavesOutWhatDependsOnConstantsOnly) {
  Graph g;
  Value x = input(g, {4, 4});
  Value w = g.add_constant(Constant::of_floats({4, 4}, std::vector<float>(16, 1)));
  Value folded = simple(g, "add", {w, w});
  Value y = simple(g, "matmul", {x, folded});
  simple(g, "relu", {y});  // dead
  g.set_outputs({y});
  Roofline model;
  GraphCost sum = graph_cost(model, g);
  EXPECT_EQ(sum.calls, 1);
  EXPECT_EQ(sum.calls_by_op, (std::map<std::string, int64_t>{{"matmul", 1}}));
  EXPECT_EQ(sum.total.microseconds, cost_of(model, g, y).microseconds);
}

TEST(GraphCost, ChargesOpaqueNodesForTheirBytes) {
  Graph g;
  Value x = input(g, {4, 4});
  Node foreign;
  foreign.kind = NodeKind::Opaque;
  foreign.inputs = {x};
  foreign.types = {{DType::F32, Shape{4}}};
  Value y{g.add_node(foreign), 0};
  foreign.types = {{DType::F32, std::nullopt}};
  Value z{g.add_node(foreign), 0};
  g.set_outputs({y, z});
  GraphCost sum = graph_cost(Roofline(), g);
  EXPECT_EQ(sum.calls, 2);
  EXPECT_EQ(sum.total.flops, 0);
  EXPECT_EQ(sum.total.bytes, 4.0 * (16 + 4) + 4 * 16);
}

}  // namespace
}  // namespace regraft::cost

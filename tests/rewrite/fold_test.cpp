#include "ir/graph/fold.h"

#include <chrono>

#include "rewrite/compare/compare.h"
#include "tests/rewrite/support.h"

namespace regraft::rewrite {
namespace {

TEST(Fold, ReplacesACallOnConstantsByItsValue) {
  Graph g;
  Value x = input(g, {2, 2});
  Value w = call(g, "add", {weight(g, {2, 2}, 1), call(g, "relu", {weight(g, {2, 2}, 2)})});
  g.set_outputs({call(g, "matmul", {x, w})});
  auto r = fold(g);
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(r->calls_folded, 1);
  EXPECT_EQ(r->graph.node(w.node).kind, NodeKind::Constant);
  EXPECT_EQ(r->graph.node_count(), 3);
  auto same = compare(g, r->graph, {}, Stop());
  ASSERT_TRUE(same.has_value());
  EXPECT_TRUE(same->agrees);
}

/// A constant of one element.
Value number(Graph& g, float x) { return g.add_constant(Constant::of_floats({1}, {x})); }

// What several constants are made of is no constant itself: each is computed in double precision
// and rounded once.
TEST(Fold, RoundsOnce) {
  Graph g;
  Value x = input(g, {1});
  float a = 1, b = 3, c = 3, d = 7;
  Value third = call(g, "div", {number(g, a), number(g, b)});
  Value one = call(g, "mul", {third, number(g, c)}), more = call(g, "mul", {third, number(g, d)});
  Value square = call(g, "mul", {third, third});
  g.set_outputs({call(g, "add", {call(g, "add", {call(g, "add", {x, one}), more}), square})});
  auto r = fold(g);
  ASSERT_TRUE(r.has_value());
  auto value = [&](Value v) { return r->graph.node(v.node).constant->reals()->at(0); };
  double exact = static_cast<double>(a) / b;
  EXPECT_EQ(value(one), static_cast<float>(exact * c));
  EXPECT_EQ(value(more), static_cast<float>(exact * d));
  EXPECT_EQ(value(square), static_cast<float>(exact * exact));
  EXPECT_NE(value(more), static_cast<float>(static_cast<double>(static_cast<float>(exact)) * d));
}

/// a / b * b as an integer, gathered from x.
Graph cut_to_integer(float a, float b) {
  constexpr int64_t kInt64 = 7;
  Graph g;
  Value x = g.add_input({DType::I64, Shape{Poly(1)}});
  Value product = call(g, "mul", {call(g, "div", {number(g, a), number(g, b)}), number(g, b)});
  g.set_outputs({call(g, "add", {x, call(g, "cast", {product}, {{kInt64}})})});
  return g;
}

// 1 / 3 * 3 may be a little less than 1, of which the integer is 0.
TEST(Fold, WhatRoundingDecidesIsLeftWithAllThatItIsMadeOf) {
  Graph decided = cut_to_integer(1, 4), open = cut_to_integer(1, 3);
  auto folded = fold(decided), left = fold(open);
  ASSERT_TRUE(folded && left);
  EXPECT_EQ(folded->graph.node_count(), 3);
  EXPECT_EQ(left->graph.node_count(), open.node_count());
  EXPECT_TRUE(left->folded.empty());
}

// exp(1000) is no double, but these logarithms are.
TEST(Fold, LogarithmsOfLargeExponentialsAreFinite) {
  Graph g;
  Value x = input(g, {2});
  Value large = g.add_constant(Constant::of_floats({2}, {1000, -1000}));
  Value soft = call(g, "softplus", {large});
  Value sum = call(g, "reduce-log-sum-exp", {large}, {{0}, {1}});
  g.set_outputs({call(g, "add", {call(g, "add", {x, soft}), sum})});
  auto r = fold(g);
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(*r->graph.node(soft.node).constant->reals(), (std::vector<double>{1000, 0}));
  EXPECT_EQ(*r->graph.node(sum.node).constant->reals(), std::vector<double>{1000});
}

TEST(Fold, IntegersThatDoublesLackAreLeft) {
  for (int64_t large : {int64_t{1} << 40, (int64_t{1} << 53) + 1, int64_t{1} << 52}) {
    Graph g;
    Value x = g.add_input({DType::I64, Shape{Poly(1)}});
    Value c = g.add_constant(Constant::of_ints({1}, {large})),
          two = g.add_constant(Constant::of_ints({1}, {2})),
          four = call(g, "mul", {two, call(g, "add", {two, c})});
    g.set_outputs({call(g, "add", {x, four})});
    auto r = fold(g);
    ASSERT_TRUE(r.has_value());
    EXPECT_EQ(r->folded.empty(), large > int64_t{1} << 50) << large;
  }
}

TEST(Fold, LeavesWhatWouldGrow) {
  Graph g;
  Value x = input(g, {8, 8});
  Value row = weight(g, {1, 8}), column = weight(g, {8, 1});
  Value grown = call(g, "add", {call(g, "relu", {row}), column});
  g.set_outputs({call(g, "add", {x, grown})});
  auto r = fold(g, 64);  // 8 x 8 floats are 256 bytes, both operands 64
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(r->graph.node(grown.node).kind, NodeKind::Call);
  EXPECT_EQ(r->graph.node(r->graph.node(grown.node).inputs[0].node).kind, NodeKind::Constant);
  EXPECT_EQ(fold(g, 256)->graph.node(grown.node).kind, NodeKind::Constant);
}

TEST(Fold, MakersOfConstantsAlwaysFold) {
  Graph g;
  Value x = input(g, {8, 8});
  Value ones = call(g, "full", {}, {{8, 8}});
  g.set_outputs({call(g, "add", {x, ones})});
  EXPECT_EQ(fold(g, 1)->graph.node(ones.node).kind, NodeKind::Constant);
}

TEST(Fold, EveryOutputOfASplit) {
  Graph g;
  Value x = input(g, {2, 2});
  Value parts = call(g, "split", {weight(g, {4, 2})}, {{0}, {2, 2}});
  g.set_outputs({call(g, "add", {call(g, "add", {x, parts}), Value{parts.node, 1}})});
  auto r = fold(g);
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(cost::graph_cost(cost::Roofline(), r->graph).calls_by_op,
            (std::map<std::string, int64_t>{{"add", 2}}));
  auto same = compare(g, r->graph, {}, Stop());
  ASSERT_TRUE(same.has_value());
  EXPECT_TRUE(same->agrees);
}

TEST(Fold, KeepsNamesAndForeignNodes) {
  Graph g;
  Value w = call(g, "relu", {weight(g, {2, 2})});
  Node named = g.node(w.node);
  named.names = {"clean"};
  g.replace_node(w.node, named);
  Node foreign;
  foreign.kind = NodeKind::Opaque;
  foreign.inputs = {w};
  foreign.types = {{DType::F32, std::nullopt}};
  g.set_outputs({{g.add_node(foreign), 0}});
  auto r = fold(g);
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(r->graph.node(w.node).names, std::vector<std::string>{"clean"});
  EXPECT_EQ(r->graph.node(r->graph.outputs()[0].node).kind, NodeKind::Opaque);
}

TEST(Fold, ReportsDataThatCannotBeRead) {
  Graph g;
  auto load = [](const Constant::Visit&) -> Status { return error("weights.bin: cannot be read"); };
  Value c = g.add_constant(std::make_shared<Constant>(DType::F32, std::vector<int64_t>{1}, load));
  g.set_outputs({call(g, "relu", {c})});
  auto r = fold(g);
  ASSERT_FALSE(r.has_value());
  EXPECT_NE(r.error().message.find("weights.bin"), std::string::npos);
}

/// Stored as one number, as ConstantOfShape is.
Value made(Graph& g, std::vector<int64_t> dims, int64_t* count = nullptr) {
  int64_t bytes = 4;
  for (int64_t d : dims) bytes *= d;
  auto read = [bytes, count](const Constant::Visit& visit) -> Status {
    if (count) ++*count;
    visit(std::vector<std::byte>(static_cast<size_t>(bytes)));
    return {};
  };
  return g.add_constant(std::make_shared<Constant>(DType::F32, dims, read, 4));
}

TEST(Fold, WhatANodeMakesTakesNoRoomInTheFile) {
  Graph g;
  Value x = input(g, {64, 64});
  Value w = call(g, "relu", {made(g, {64, 64})});  // 16 KiB from 4 bytes
  g.set_outputs({call(g, "add", {x, w})});
  auto left = fold(g, 16000);
  EXPECT_EQ(left->calls_folded, 0);
  EXPECT_EQ(left->calls_left, 1);
  EXPECT_EQ(fold(g, 16384)->calls_folded, 1);
}

TEST(Fold, AllThatIsAddedCounts) {
  Graph g;
  Value sum = input(g, {8, 8});
  Value w = weight(g, {8, 8});  // read by all, so that it stays
  for (const char* op : {"relu", "exp", "sigmoid", "tanh"})
    sum = call(g, "add", {sum, call(g, op, {w})});
  g.set_outputs({call(g, "add", {sum, w})});
  auto r = fold(g, 2 * 256 + 10);
  EXPECT_EQ(r->calls_folded, 2);
  EXPECT_EQ(r->calls_left, 2);
  g.set_outputs({sum});  // the last one takes the weight's place
  EXPECT_EQ(fold(g, 3 * 256)->calls_folded, 4);
}

TEST(Fold, MoreThanMemoryHoldsIsLeft) {
  Graph g;
  constexpr int64_t kHuge = int64_t{1} << 31;
  Value x = input(g, {kHuge, 8});
  int64_t read = 0;
  Value w = call(g, "relu", {made(g, {kHuge, 8}, &read)});
  Value one = call(g, "reduce-sum", {made(g, {kHuge, 8}, &read)}, {{0, 1}, {1}});
  g.set_outputs({call(g, "add", {call(g, "add", {x, w}), one})});
  auto r = fold(g, int64_t{1} << 60, Stop(0, int64_t{1} << 30));
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(r->calls_folded, 0);
  EXPECT_EQ(read, 0);
}

TEST(Fold, WithoutTimeWhatAddsNothingAndWhatIsSmall) {
  constexpr int64_t kSide = 512;
  Graph g;
  Value x = input(g, {kSide, kSide});
  Value replaced = call(g, "relu", {weight(g, {kSide, kSide}, 1)});
  Value shared = weight(g, {kSide, kSide}, 2), row = weight(g, {kSide}, 3);
  Value added = call(g, "exp", {shared}), small = call(g, "exp", {row});
  g.set_outputs({call(g, "add", {call(g, "mul", {x, shared}), call(g, "mul", {replaced, x})}),
                 call(g, "mul", {added, x}), call(g, "add", {call(g, "mul", {small, x}), row})});
  Stop stop;
  stop.request();
  auto r = fold(g, kFoldGrowth, stop);
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(r->graph.node(replaced.node).kind, NodeKind::Constant);
  EXPECT_EQ(r->graph.node(small.node).kind, NodeKind::Constant);
  EXPECT_EQ(r->graph.node(added.node).kind, NodeKind::Call);
  auto same = compare(g, r->graph, {}, Stop());
  ASSERT_TRUE(same.has_value());
  EXPECT_TRUE(same->agrees);
}

TEST(Fold, TakesTimeInProportion) {
  Graph g;
  constexpr int kLength = 20000;
  Value sum = input(g, {2, 2}), w = weight(g, {2, 2});
  for (int k = 0; k < kLength; ++k) {  // each constant is made of all before it
    w = call(g, k % 2 ? "relu" : "neg", {w});
    sum = call(g, "add", {sum, w});
  }
  g.set_outputs({sum});
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(fold(g)->calls_folded, kLength);
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 10);  // 20000^2 / 2 calls took minutes
}

}  // namespace
}  // namespace regraft::rewrite

#include "rewrite/compare/compare.h"

#include "tests/ir/collision.h"
#include "tests/rewrite/compared.h"

namespace regraft::rewrite {
namespace {

TEST(Compare, CatchesAWrongRewrite) {
  CheckReport r = check(sum("add", {2, 3}), sum("sub", {2, 3}), 1);
  EXPECT_FALSE(r.agrees);
  EXPECT_GT(r.max_relative, 0.1);
  EXPECT_EQ(r.worst, "output 0, unit inputs");
  EXPECT_EQ(r.values_shared, 3);  // two inputs and the tanh
  EXPECT_EQ(r.values_run, 7);
}

TEST(Compare, CatchesASmallError) {
  Graph a, b;
  for (Graph* g : {&a, &b}) {
    Value x = input(*g, {4});
    float bias = g == &a ? 1.0F : 1.001F;
    Value c = g->add_constant(Constant::of_floats({1}, {bias}));
    g->set_outputs({call(*g, "add", {x, c})});
  }
  CheckReport r = check(a, b, 1);
  EXPECT_FALSE(r.agrees);
  EXPECT_NEAR(r.max_absolute, 0.001, 1e-6);
}

TEST(Compare, AcceptsRounding) {
  Graph a, b;
  Value x = input(a, {2, 3}), y = input(a, {2, 3}), z = input(a, {2, 3});
  a.set_outputs({call(a, "add", {call(a, "add", {x, y}), z})});
  x = input(b, {2, 3}), y = input(b, {2, 3}), z = input(b, {2, 3});
  b.set_outputs({call(b, "add", {x, call(b, "add", {y, z})})});
  CheckReport r = check(a, b, 3);
  EXPECT_TRUE(r.agrees);
  EXPECT_EQ(r.runs, 3);
  EXPECT_LT(r.max_relative, 1e-12);
}

TEST(Compare, EqualGraphsNeedNoRun) {
  CheckReport r = check(sum("add", {2, 3}), sum("add", {2, 3}));
  EXPECT_TRUE(r.agrees);
  EXPECT_EQ(r.values_run, 0);
}

TEST(Compare, RefusesOtherInterfaces) {
  EXPECT_FALSE(compare(sum("add", {2, 3}), sum("add", {2, 4}), {}, Stop()).has_value());
  Graph one;
  one.set_outputs({input(one, {2, 3})});
  EXPECT_FALSE(compare(sum("add", {2, 3}), one, {}, Stop()).has_value());
}

TEST(Compare, GivesSymbolsTheSameNumbersInBothGraphs) {
  EXPECT_FALSE(check(symbolic_sum("add"), symbolic_sum("sub")).agrees);
  Graph a = symbolic_sum("add"), b = symbolic_sum("add");
  b.set_outputs({call(b, "neg", {call(b, "neg", {b.outputs()[0]})})});
  CheckReport r = check(a, b);
  EXPECT_TRUE(r.agrees);
  EXPECT_GT(r.values_run, 0);
}

TEST(Compare, FindsSizesThatLeaveRoomForWindows) {
  Graph graphs[2];
  for (Graph& g : graphs) {
    Poly side = Poly::symbol(g.pool().named("side"));
    Value x = input(g, {1, 1, side, side});
    Value y = call(g, "conv", {x, weight(g, {1, 1, 5, 5})});
    g.set_outputs({&g == &graphs[0] ? y : call(g, "relu", {y})});
  }
  EXPECT_FALSE(check(graphs[0], graphs[1]).agrees);
}

/// relu, then a foreign node, then `op` of its output and the input.
Graph with_foreign(const std::string& before, const std::string& after, bool known_shape) {
  Graph g;
  Value x = input(g, {2, 2});
  Node foreign;
  foreign.kind = NodeKind::Opaque;
  foreign.content = Sha256().number(9).finish();
  foreign.pure = true;
  foreign.origin = 4;
  foreign.inputs = {call(g, before, {x})};
  foreign.types = {{DType::F32, known_shape ? std::optional<Shape>(Shape{2, 2}) : std::nullopt}};
  Value y{g.add_node(foreign), 0};
  g.set_outputs({y, known_shape ? call(g, after, {y, x}) : y});
  return g;
}

TEST(Compare, LooksAtOperandsOfForeignNodesAndBehindThem) {
  EXPECT_TRUE(check(with_foreign("relu", "add", true), with_foreign("relu", "add", true)).agrees);
  CheckReport before = check(with_foreign("relu", "add", true), with_foreign("tanh", "add", true));
  EXPECT_FALSE(before.agrees);
  EXPECT_NE(before.worst.find("operand 0"), std::string::npos);
  CheckReport after = check(with_foreign("relu", "add", true), with_foreign("relu", "sub", true));
  EXPECT_FALSE(after.agrees);
  EXPECT_NE(after.worst.find("output 1"), std::string::npos);
  EXPECT_EQ(after.opaque, 1);
}

TEST(Compare, SaysWhatItCouldNotRun) {
  Graph a = with_foreign("relu", "add", false), b = with_foreign("relu", "add", false);
  EXPECT_EQ(check(a, b).outputs_not_compared, 0);
  Node foreign = b.node(b.outputs()[0].node);
  foreign.inputs = {b.outputs()[0]};
  foreign.origin = 5;
  b.set_outputs({{b.add_node(foreign), 0}, b.outputs()[1]});
  EXPECT_EQ(check(a, b).outputs_not_compared, 1);
}

TEST(Compare, ClaimsNothingBehindAForeignNodeOfOneGraph) {
  Graph a = with_foreign("relu", "add", true), b;
  Value x = input(b, {2, 2}), y = call(b, "relu", {x});
  b.set_outputs({y, call(b, "add", {y, x})});
  CheckReport r = check(a, b);
  EXPECT_TRUE(r.agrees);
  EXPECT_EQ(r.outputs_not_compared, 2);
}

TEST(Compare, ReadsLazyConstantsAndReportsBrokenOnes) {
  Graph a, b;
  for (Graph* g : {&a, &b}) {
    Value x = input(*g, {1});
    auto load = [](const Constant::Visit&) -> Status {
      return error("weights.bin: cannot be read");
    };
    Value c =
        g->add_constant(std::make_shared<Constant>(DType::F32, std::vector<int64_t>{1}, load));
    g->set_outputs({call(*g, g == &a ? "add" : "sub", {x, c})});
  }
  auto r = compare(a, b, {}, Stop());
  ASSERT_FALSE(r.has_value());
  EXPECT_NE(r.error().message.find("weights.bin"), std::string::npos);
}

TEST(Compare, WeightsMadeToCollideAreRun) {
  std::vector<float> w;
  Rng rng(3);
  for (int k = 0; k < 64; ++k) w.push_back(static_cast<float>(rng.unit() + 0.1));
  std::vector<float> other = colliding(w);
  ASSERT_EQ(invertible_hash(w), invertible_hash(other));  // by which they were compared once
  Graph graphs[2];
  for (Graph& g : graphs) {
    Value c = g.add_constant(Constant::of_floats({8, 8}, &g == &graphs[0] ? w : other));
    Value x = input(g, {1, 8});
    g.set_outputs({call(g, "matmul", {x, c})});
  }
  EXPECT_FALSE(check(graphs[0], graphs[1]).agrees);
}

TEST(Compare, ForeignNodesOfOneNameMayDiffer) {
  Graph a = with_foreign("relu", "add", true), b = with_foreign("relu", "add", true);
  for (int32_t id = 0; id < b.id_bound(); ++id) {
    if (b.node(id).kind != NodeKind::Opaque) continue;
    Node foreign = b.node(id);
    foreign.content = Sha256().number(10).finish();
    b.replace_node(id, foreign);
  }
  CheckReport r = check(a, b);
  EXPECT_TRUE(!r.agrees || r.outputs_not_compared > 0);
}

TEST(Compare, AForeignNodeThatNoOutputNeedsStandsForNone) {
  Graph a = with_foreign("relu", "add", true), b = with_foreign("relu", "add", true);
  b.set_outputs({b.inputs()[0], b.inputs()[0]});
  for (const auto* pair : {&a, &b}) {
    CheckReport r = check(*pair, pair == &a ? b : a);
    EXPECT_EQ(r.outputs_not_compared, 2);
  }
}

TEST(Compare, CanBeStopped) {
  Stop stop;
  stop.request();
  auto r = compare(sum("add", {2, 3}), sum("sub", {2, 3}), {}, stop);
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(r->unfinished, "interrupted");
  EXPECT_EQ(r->runs, 0);
  EXPECT_TRUE(r->agrees);
  EXPECT_NE(incomplete(*r), "");
}

TEST(Compare, LargerThanMemoryIsNotComputed) {
  Shape huge{int64_t{1} << 40, 4};
  auto r = compare(sum("add", huge), sum("sub", huge), {}, Stop(0, int64_t{1} << 30));
  ASSERT_TRUE(r.has_value());
  EXPECT_NE(r->unfinished, "");
  EXPECT_EQ(r->runs, 0);
}

}  // namespace
}  // namespace regraft::rewrite

// Two models as one graph: what is shared, and what must not be.
#include "verify/model/pair.h"

#include "tests/verify/models.h"

namespace regraft::verify {
namespace {

/// relu(x + c) with the constant first or last.
Graph biased(float c, const char* last, bool swapped) {
  Graph g;
  Value x = rows(g), w = floats(g, {4}, {c, 2, 3, 4});
  Value sum = swapped ? call(g, "add", {w, x}) : call(g, "add", {x, w});
  g.set_outputs({call(g, last, {sum})});
  return g;
}

TEST(Join, EqualNodesAreOne) {
  Pair p = joined(biased(1, "relu", false), biased(1, "relu", true));
  EXPECT_EQ(p.a, p.b);
  EXPECT_EQ(p.graph.id_bound(), p.first_b);  // nothing is the second model's alone
  for (int32_t id : p.from_b) EXPECT_LT(id, p.first_b);
}

TEST(Join, SharesUpToWhatDiffers) {
  Pair p = joined(biased(1, "relu", false), biased(1, "sigmoid", false));
  EXPECT_NE(p.a, p.b);
  EXPECT_TRUE(p.is_b(p.b[0]));
  EXPECT_EQ(p.graph.id_bound(), p.first_b + 1);
  EXPECT_EQ(p.graph.node(p.b[0].node).inputs, p.graph.node(p.a[0].node).inputs);
}

TEST(Join, OperandsOfWhatDoesNotCommuteAreInOrder) {
  auto difference = [](bool swapped) {
    Graph g;
    Value x = rows(g), y = rows(g, 4, "y");
    g.set_outputs({swapped ? call(g, "sub", {y, x}) : call(g, "sub", {x, y})});
    return g;
  };
  Pair p = joined(difference(false), difference(true));
  EXPECT_NE(p.a, p.b);
}

TEST(Join, ConstantsWithOtherBytesAreTwo) {
  Pair p = joined(biased(1, "relu", false), biased(1.0000001F, "relu", false));
  EXPECT_NE(p.a, p.b);
}

TEST(Join, ConstantsOfOtherTypesOrShapesAreTwo) {
  for (auto other : {Constant::of_ints({2}, {1, 2}), Constant::of_floats({1, 2}, {1, 2})}) {
    Graph a, b;
    a.set_outputs({a.add_constant(Constant::of_floats({2}, {1, 2}))});
    b.set_outputs({b.add_constant(other)});
    Pair p = joined(a, b);
    EXPECT_NE(p.a, p.b);
  }
}

TEST(Join, InputsAreThoseOfTheMatching) {
  auto difference = [](const char* first, const char* second) {
    Graph g;
    Value x = rows(g, 4, first), y = rows(g, 4, second);
    g.set_outputs({call(g, "sub", {x, y})});
    return g;
  };
  Graph a = difference("x", "y"), b = difference("y", "x");
  auto p = join(a, b, {{1, 0}, {0}});  // by name: the second model's first input is y
  ASSERT_TRUE(p);
  EXPECT_NE(p->a, p->b);
  p = join(a, b, {{0, 1}, {0}});
  ASSERT_TRUE(p);
  EXPECT_EQ(p->a, p->b);
}

TEST(Join, AnInputWithoutPartnerIsTheSecondModelsOwn) {
  Graph a = biased(1, "relu", false);
  auto p = join(a, a, {{-1}, {0}});
  ASSERT_TRUE(p);
  EXPECT_NE(p->a, p->b);
  EXPECT_EQ(p->graph.inputs().size(), 2u);
}

Graph carrying(uint8_t content, bool pure, bool of_relu) {
  Graph g;
  Value x = rows(g);
  g.set_outputs({carried(g, {of_relu ? call(g, "relu", {x}) : x}, content, pure)});
  return g;
}

TEST(Join, CarriedNodesAreFunctionsOfContentAndOperands) {
  Pair same = joined(carrying(1, true, false), carrying(1, true, false));
  EXPECT_EQ(same.a, same.b);
  Pair content = joined(carrying(1, true, false), carrying(2, true, false));
  EXPECT_NE(content.a, content.b);
  Pair operands = joined(carrying(1, true, false), carrying(1, true, true));
  EXPECT_NE(operands.a, operands.b);
}

/// r0 - r1 of random nodes, or r0 - r0.
Graph random_difference(bool twice) {
  Graph g;
  Value p = carried(g, {}, 1, false), q = twice ? carried(g, {}, 1, false) : p;
  g.set_outputs({call(g, "sub", {p, q}), call(g, "relu", {p})});
  return g;
}

TEST(Join, RandomNodesAreTakenOneByOne) {
  Pair same = joined(random_difference(true), random_difference(true));
  EXPECT_EQ(same.a, same.b);
  Pair shared = joined(random_difference(true), random_difference(false));
  EXPECT_NE(shared.a[0], shared.b[0]);
  EXPECT_EQ(shared.a[1], shared.b[1]);  // one of them is as good as the other
  Pair more = joined(random_difference(false), random_difference(true));
  EXPECT_NE(more.a[0], more.b[0]);
}

/// z, repeated as often as input `k` has rows.
Graph repeated(const char* first, const char* second, int k) {
  Graph g;
  auto size = [&](const char* name) { return Poly::symbol(g.pool().named(name)); };
  std::vector<Poly> sizes = {size(first), size(second)};
  for (const Poly& p : sizes) g.add_input({DType::F32, Shape{p}});
  Value z = g.add_input({DType::F32, Shape{Poly(1)}});
  g.set_outputs({call(g, "expand", {z}, {{sizes[static_cast<size_t>(k)]}})});
  return g;
}

TEST(Join, SizesAreThoseOfTheInputs) {
  Pair p = joined(repeated("N", "M", 1), repeated("rows", "columns", 1));
  EXPECT_EQ(p.a, p.b);
  EXPECT_NE(joined(repeated("N", "M", 1), repeated("M", "N", 0)).b, p.a);
}

TEST(Join, ASizeThatTheSecondModelEquatesIsNone) {
  Pair p = joined(repeated("N", "M", 0), repeated("K", "K", 1));
  EXPECT_NE(p.a, p.b);
  Pair q = joined(repeated("N", "N", 0), repeated("K", "L", 1));
  EXPECT_EQ(q.a, q.b);  // the first model says that they are equal
}

TEST(Join, SaysWhichSizesTheSecondModelFixes) {
  auto of = [](const Poly& n) {
    Graph g;
    g.add_input({DType::F32, Shape{n}}, "x");
    return g;
  };
  Graph open, fixed = of(3);
  open.add_input({DType::F32, Shape{Poly::symbol(open.pool().named("N"))}}, "x");
  auto found = sizes_fixed(open, fixed, {{0}, {}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "N");
  EXPECT_EQ(found[0].size, 3);
  EXPECT_TRUE(sizes_fixed(fixed, open, {{0}, {}}).empty());
}

}  // namespace
}  // namespace regraft::verify

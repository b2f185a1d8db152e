// Classes of equal terms: hash-consing, congruence, and the reasons of an equality.
#include "gen/derive/sized_egraph.h"

#include <gtest/gtest.h>

namespace regraft::gen {
namespace {

struct Terms {
  SizedEGraph graph;
  EValue call(const char* op, std::vector<EValue> operands,
              std::vector<std::vector<int64_t>> ints = {}, int output = 0) {
    auto n = graph.add(*find_op(op), {std::move(ints), {}}, output, operands);
    EXPECT_TRUE(n) << op;
    return n.value_or(-1);
  }
};

TEST(SizedEGraph, EqualCallsAreOneNode) {
  Terms t;
  EValue x = t.graph.add_leaf({2, 3}), y = t.graph.add_leaf({2, 3});
  EXPECT_NE(x, y);
  EXPECT_EQ(t.call("add", {x, y}), t.call("add", {y, x}));  // commutes
  EXPECT_NE(t.call("sub", {x, y}), t.call("sub", {y, x}));
  EXPECT_EQ(t.call("concat", {x, y}, {{-1}}), t.call("concat", {x, y}, {{1}}));
  EXPECT_NE(t.call("concat", {x, y}, {{0}}), t.call("concat", {x, y}, {{1}}));
  EValue both = t.call("concat", {x, y}, {{1}});
  EXPECT_NE(t.call("split", {both}, {{1}, {3, 3}}, 0), t.call("split", {both}, {{1}, {3, 3}}, 1));
  EXPECT_EQ(t.graph.shape(t.call("split", {both}, {{1}, {2, 4}}, 1)), (std::vector<int64_t>{2, 4}));
}

TEST(SizedEGraph, CallsThatDoNotFitAreRefused) {
  SizedEGraph g;
  EValue x = g.add_leaf({2, 3});
  size_t before = g.node_count();
  EXPECT_FALSE(g.add(*find_op("matmul"), {}, 0, std::vector{x, x}));
  EXPECT_FALSE(g.add(*find_op("split"), {{{0}, {1, 2}}, {}}, 0, std::vector{x}));
  EXPECT_FALSE(g.add(*find_op("relu"), {}, 1, std::vector{x}));
  EXPECT_EQ(g.node_count(), before);
}

TEST(SizedEGraph, CallsOfConstantsAreFolded) {
  SizedEGraph g;
  auto full = [&](double value) {
    return *g.add(*find_op("full"), {{{2}}, {{value, nullptr}}}, 0, {});
  };
  auto divided = [&](EValue a, EValue b) {
    return *g.add(*find_op("div"), {}, 0, std::vector{a, b});
  };
  EValue one = full(1), eight = full(8), x = g.add_leaf({2});
  EXPECT_FALSE(g.equal(one, eight));
  EXPECT_TRUE(g.equal(divided(one, eight), full(0.125)));
  EXPECT_FALSE(g.equal(divided(one, x), full(0.125)));
  EXPECT_FALSE(g.equal(divided(one, full(0)), full(0)));  // no value
  ASSERT_TRUE(g.merge(x, eight, {3, {}}));
  EValue y = divided(full(4), x);  // known by what rule 3 says
  EXPECT_TRUE(g.equal(y, full(0.5)));
  EXPECT_EQ(g.rules_between(y, full(0.5)), (std::set<int>{3}));
}

TEST(SizedEGraph, CongruenceGoesUpAllLevels) {
  Terms t;
  EValue x = t.graph.add_leaf({2, 2}), y = t.graph.add_leaf({2, 2}), z = t.graph.add_leaf({2, 2});
  EValue a = t.call("relu", {t.call("add", {x, z})}), b = t.call("relu", {t.call("add", {z, y})});
  EValue c = t.call("matmul", {a, x}), d = t.call("matmul", {b, y});
  EXPECT_TRUE(t.graph.merge(x, y, {5, {}}));
  EXPECT_FALSE(t.graph.merge(y, x, {6, {}}));
  t.graph.rebuild();
  EXPECT_TRUE(t.graph.equal(a, b));
  EXPECT_TRUE(t.graph.equal(c, d));
  EXPECT_FALSE(t.graph.equal(a, c));
  EXPECT_EQ(t.graph.rules_between(c, d), (std::set<int>{5}));
  EXPECT_EQ(t.call("matmul", {b, x}), c);  // found under its new key
}

TEST(SizedEGraph, DifferentShapesAreNeverEqual) {
  SizedEGraph g;
  EValue x = g.add_leaf({2, 3}), y = g.add_leaf({3, 2});
  EXPECT_FALSE(g.merge(x, y, {0, {}}));
  EXPECT_FALSE(g.equal(x, y));
}

TEST(SizedEGraph, ReasonsLeaveOutWhatIsNotOnTheWay) {
  SizedEGraph g;
  std::vector<EValue> x;
  for (int k = 0; k < 6; ++k) x.push_back(g.add_leaf({2}));
  g.merge(x[0], x[1], {0, {}});
  g.merge(x[2], x[3], {2, {{x[0], x[1]}}});
  g.merge(x[1], x[2], {1, {}});
  g.merge(x[4], x[5], {4, {}});
  g.merge(x[5], x[0], {3, {}});
  EXPECT_EQ(g.rules_between(x[1], x[2]), (std::set<int>{1}));
  EXPECT_EQ(g.rules_between(x[2], x[3]), (std::set<int>{0, 2}));  // and what it rests on
  EXPECT_EQ(g.rules_between(x[4], x[1]), (std::set<int>{0, 3, 4}));
}

TEST(SizedEGraph, TermSizesAreOfTheSmallestTerm) {
  Terms t;
  EValue x = t.graph.add_leaf({2, 2});
  EValue twice = t.call("relu", {t.call("relu", {x})}), once = t.call("relu", {x});
  EXPECT_EQ(t.graph.term_size(twice), 2);
  t.graph.merge(twice, once, {0, {}});
  EXPECT_EQ(t.graph.term_size(twice), 1);
}

}  // namespace
}  // namespace regraft::gen

// E-graphs and e-matching: classes, congruence, several outputs of a call.
#include "ir/egraph/ematch.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "ir/rule/text.h"

namespace regraft {
namespace {

struct Calls {
  EGraph graph;
  EValue leaf() { return graph.add({}, {}); }
  ENodeId call(const char* op, std::vector<EValue> operands, int32_t outputs = 1) {
    ESymbol symbol{find_op(op), hash_text(op), 0, outputs};
    if (auto known = graph.lookup(symbol, operands)) return *known;
    return graph.add(symbol, operands);
  }
  EValue value(const char* op, std::vector<EValue> operands) {
    return graph.value(call(op, std::move(operands)), 0);
  }
  void rebuild() {
    graph.rebuild([&](ENodeId newer, ENodeId older) {
      for (int32_t k = 0; k < graph.symbol(newer).outputs; ++k)
        graph.unite(graph.value(newer, k), graph.value(older, k));
    });
  }
};

TEST(EGraph, ClassesAreNamedByTheirOldestValue) {
  Calls c;
  EValue x = c.leaf(), y = c.leaf(), z = c.leaf();
  EXPECT_TRUE(c.graph.unite(z, y));
  EXPECT_TRUE(c.graph.unite(z, x));
  EXPECT_FALSE(c.graph.unite(x, y));
  EXPECT_EQ(c.graph.find(z), x);
  EXPECT_EQ(c.graph.members(y), (std::vector<EValue>{x, y, z}));
}

TEST(EGraph, AllOutputsOfEqualCallsAreEqual) {
  Calls c;
  EValue x = c.leaf(), y = c.leaf();
  ENodeId a = c.call("split", {x}, 2), b = c.call("split", {y}, 2);
  EXPECT_EQ(c.graph.output_of(c.graph.value(b, 1)), 1);
  EXPECT_EQ(c.graph.node_of(c.graph.value(b, 1)), b);
  c.graph.unite(x, y);
  c.rebuild();
  EXPECT_EQ(c.graph.twin(b), a);
  EXPECT_TRUE(c.graph.equal(c.graph.value(a, 1), c.graph.value(b, 1)));
  EXPECT_FALSE(c.graph.equal(c.graph.value(a, 0), c.graph.value(a, 1)));
  EXPECT_EQ(c.graph.members(c.graph.value(b, 0)), std::vector<EValue>{c.graph.value(a, 0)});
  EXPECT_EQ(c.graph.duplicates(), 1u);
}

TEST(EGraph, OperandsMayComeLater) {
  EGraph g;
  ESymbol relu{find_op("relu"), 1, 0, 1};
  ENodeId a = g.add_unconnected(relu), b = g.add_unconnected(relu);
  EValue x = g.value(g.add_unconnected({}), 0);
  g.connect(a, std::vector{x});
  g.connect(b, std::vector{x});
  g.rebuild([&](ENodeId newer, ENodeId older) { g.unite(newer, older); });
  EXPECT_TRUE(g.is_duplicate(b));
  EXPECT_EQ(g.lookup(relu, std::vector{x}), a);
}

/// Counts the places of a side.
struct Counter {
  Counter(const EGraph& g, const Pattern& side, size_t variables)
      : pattern(side), matcher(g, pattern, variables, *this) {}
  bool more() const { return true; }
  bool enter(size_t step, EValue v) { return matcher.is_call(step, v); }
  void leave(size_t) {}
  bool found() {
    places.push_back(matcher.variables());
    return true;
  }
  const std::vector<EValue>& anything() const { return none; }
  EPattern pattern;
  EMatcher<Counter> matcher;
  std::vector<EValue> none;
  std::vector<std::vector<EValue>> places;
};

std::vector<std::vector<EValue>> places(const EGraph& g, const Rule& rule) {
  Counter counter(g, rule.lhs, rule.variables.size());
  EXPECT_TRUE(counter.matcher.run());
  return counter.places;
}

TEST(EMatcher, TakesAnyValueOfAClassAsOperand) {
  Calls c;
  EValue x = c.leaf(), y = c.leaf(), z = c.leaf();
  EValue sum = c.value("add", {x, y}), top = c.value("matmul", {z, x});
  Rule rule =
      *parse_rule("distribute  (matmul ?a (add ?b ?c)) => (add (matmul ?a ?b) (matmul ?a ?c))");
  EXPECT_TRUE(places(c.graph, rule).empty());
  c.graph.unite(sum, x);  // (add x y) is x, which top reads
  c.rebuild();
  EXPECT_EQ(places(c.graph, rule), (std::vector<std::vector<EValue>>{{z, x, y}, {z, y, x}}));
  EXPECT_NE(c.graph.find(top), c.graph.find(sum));
}

TEST(EMatcher, PlacesSeveralOutputsTogether) {
  Calls c;
  EValue x = c.leaf(), y = c.leaf();
  c.value("matmul", {x, y});
  c.value("matmul", {x, x});
  c.value("matmul", {y, y});
  Rule rule =
      *parse_rule("exchange  (matmul ?a ?b) ; (matmul ?a ?c) => (matmul ?a ?c) ; (matmul ?a ?b)");
  EXPECT_EQ(places(c.graph, rule).size(), 5u);  // of x 2 by 2, of y 1
}

}  // namespace
}  // namespace regraft

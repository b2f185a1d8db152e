// Instruction selection, and the numbers that it computes on the way.
#include "rewrite/selection.h"

#include "rewrite/egraph/model_egraph.h"
#include "tests/rewrite/support.h"

namespace regraft::rewrite {
namespace {

Value number(Graph& g, float x) { return g.add_constant(Constant::of_floats({}, {x})); }

constexpr const char* kOne = "one  (mul ?a (full value=1)) => ?a  for a:nn  proved:all-sizes";
const std::vector<std::string> kSigmoid = {
    "neg  (neg ?a) => (mul ?a (full value=-1))  for a:nn  proved:all-sizes",
    "reciprocal  (mul ?a (reciprocal ?b)) => (div ?a ?b)  for a:nn b:nn  proved:all-sizes",
    "gate  (div ?a (add (exp (mul ?b (full value=?c))) (full value=1))) => (mul ?a (sigmoid (mul "
    "?b (mul (full value=?c) (full value=-1)))))  for a:nn b:nn  proved:all-sizes",
    kOne};

TEST(Selection, WhatIsMadeOfNumbersMatchesByItsValue) {
  Graph g;
  Value x = input(g, {2, 3}), one = call(g, "mul", {number(g, 0.5F), number(g, 2)});
  Value three = call(g, "mul", {number(g, 1.5F), number(g, 2)});
  g.set_outputs({call(g, "mul", {x, one}), call(g, "mul", {x, three})});
  RuleIndex rules = index_of({kOne});
  cost::Roofline model;
  Engine engine(g, rules, model);
  ASSERT_EQ(engine.matches().size(), 1U);
  engine.apply(engine.matches()[0]);
  EXPECT_EQ(engine.graph().outputs()[0], x);
}

TEST(Selection, NumbersOfOneValueAreOneClass) {
  Graph g;
  Value quarter = number(g, 0.25F), half = number(g, 0.5F);
  Value made = call(g, "mul", {half, half}), x = input(g, {2, 3});
  g.set_outputs({call(g, "mul", {x, quarter}), call(g, "add", {x, made})});
  cost::Roofline model;
  Interner interner(g.shared_pool(), model, {});
  ModelEGraph e(g, interner);
  EXPECT_EQ(e.name(quarter), e.name(made));
  EXPECT_NE(e.name(quarter), e.name(half));
}

/// x * (1 / (1 + exp(-x)))
Value gate(Graph& g, Value x, Value one) {
  Value e = call(g, "exp", {call(g, "neg", {x})});
  return call(g, "mul", {x, call(g, "reciprocal", {call(g, "add", {e, one})})});
}

/// `times` in a row.
Graph gates(int times) {
  Graph g;
  Value x = input(g, {64, 64}), one = number(g, 1);
  for (int k = 0; k < times; ++k) x = gate(g, x, one);
  g.set_outputs({x});
  return g;
}

/// Side by side, one for each number of rows.
Graph gates_of(const std::vector<int64_t>& rows) {
  Graph g;
  std::vector<Value> outputs;
  for (int64_t n : rows) outputs.push_back(gate(g, input(g, {n, 64}), number(g, 1)));
  g.set_outputs(outputs);
  return g;
}

SearchReport selected(const Graph& g, const GraphPrice& price) {
  RuleIndex rules = index_of(kSigmoid);
  cost::Roofline model;
  return select_operators(g, rules, model, price, {}, Stop());
}

double sum_of(const Graph& g) { return cost::graph_cost(cost::Roofline(), g).total.microseconds; }

TEST(Selection, FindsTheOperatorBehindSeveralSteps) {
  for (int times : {1, 3}) {
    Graph g = gates(times);
    SearchReport report = selected(g, sum_of);
    auto calls = cost::graph_cost(cost::Roofline(), report.best).calls_by_op;
    EXPECT_EQ(calls["sigmoid"], times);
    EXPECT_EQ(calls["mul"], times);
    EXPECT_EQ(calls.count("exp"), 0U);
    EXPECT_LT(report.cost_after, report.cost_before);
  }
}

TEST(Selection, TriesWhatPaidAtOtherSizesBeforeItSearches) {
  SearchReport one = selected(gates_of({64}), sum_of),
               three = selected(gates_of({64, 32, 8}), sum_of);
  EXPECT_EQ(cost::graph_cost(cost::Roofline(), three.best).calls_by_op["sigmoid"], 3);
  EXPECT_EQ(three.steps.size(), 3 * one.steps.size());
  EXPECT_LT(three.candidates, 2 * one.candidates);
}

TEST(Selection, DoesNotRepeatAtOtherSizesWhatDoesNotPayThere) {
  auto price = [](const Graph& g) {
    bool small = false;
    for (Value v : g.inputs()) small |= g.type(v).shape->front().constant() < 64;
    auto calls = cost::graph_cost(cost::Roofline(), g).calls_by_op;
    return small ? 1.0 + static_cast<double>(calls["sigmoid"]) : sum_of(g);
  };
  EXPECT_EQ(cost::graph_cost(cost::Roofline(), selected(gates_of({64, 32}), price).best)
                .calls_by_op["sigmoid"],
            1);
}

TEST(Selection, LeavesWhatThePriceDoesNotLike) {
  auto price = [](const Graph& g) {
    auto calls = cost::graph_cost(cost::Roofline(), g).calls_by_op;
    return calls.count("sigmoid") ? 2.0 : 1.0;
  };
  EXPECT_TRUE(selected(gates(2), price).steps.empty());
}

}  // namespace
}  // namespace regraft::rewrite

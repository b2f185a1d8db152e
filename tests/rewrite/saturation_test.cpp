// E-graphs, what rules make of them, and the way back to a graph.
#include "rewrite/egraph/saturation.h"

#include <set>

#include "rewrite/egraph/target.h"
#include "rewrite/search/replay.h"
#include "rewrite/searchers.h"
#include "tests/rewrite/support.h"

namespace regraft::rewrite {
namespace {

const std::string kAssociateBack =
    "matmul-associate-back (matmul ?a (matmul ?b ?c)) => (matmul (matmul ?a ?b) ?c) "
    "for a:nn b:nn c:nn proved:all-sizes";

class InAGraph : public testing::Test {
 protected:
  Sizes& sizes_of(const Graph& g) {
    sizes_ = std::make_unique<Sizes>(rules_, g.shared_pool(), model_, PlanOptions{});
    return *sizes_;
  }
  /// Fills an e-graph without a limit that matters unless given.
  StopReason fill(Growth& growth, uint64_t candidates = 1u << 20, int32_t nodes = 1 << 20,
                  uint64_t batch = 1u << 18) {
    Stop stop;
    SearchOptions options{.budget = 1u << 30};
    Reporter reporter("test", 0, rules_, options, stop, Reporter::Clock::now());
    return growth.run(reporter, candidates, nodes, batch);
  }
  cost::Roofline model_;
  RuleIndex rules_;
  std::unique_ptr<Sizes> sizes_;
};

using EGraphs = InAGraph;

TEST_F(EGraphs, UnionsOfOperandsMakeCallsEqual) {
  Graph g;
  Value a = input(g, {4, 4}), b = input(g, {4, 4}), c = input(g, {4, 4});
  Value fa = call(g, "relu", {a}), fb = call(g, "relu", {b});
  Value x = call(g, "add", {fa, c}), y = call(g, "add", {c, fb});
  g.set_outputs({call(g, "matmul", {x, y})});
  ModelEGraph e(g, sizes_of(g).interner);
  EXPECT_EQ(e.size(), 8);
  EXPECT_NE(e.name(x), e.name(y));
  EXPECT_TRUE(e.unite(a, b));
  e.rebuild();
  EXPECT_EQ(e.name(fa), e.name(fb));
  EXPECT_EQ(e.name(x), e.name(y));  // the operands of a sum commute
  EXPECT_EQ(e.node(fb.node), fa.node);
  EXPECT_EQ(e.size(), 6);
  EXPECT_EQ(e.members(e.name(y)), std::vector<Value>{x});
  EXPECT_FALSE(e.unite(fa, fb));
}

TEST_F(EGraphs, EqualCallsOfAGraphAreOne) {
  Graph g;
  Value a = input(g, {4, 4});
  Value x = call(g, "relu", {call(g, "tanh", {a})}), y = call(g, "relu", {call(g, "tanh", {a})});
  g.set_outputs({call(g, "add", {x, y})});
  EXPECT_EQ(ModelEGraph(g, sizes_of(g).interner).size(), 4);
}

TEST_F(EGraphs, WhatFollowsAConstantClassIsConstant) {
  Graph g;
  Value a = input(g, {4, 4}), w = weight(g, {4, 4});
  Value x = call(g, "relu", {a}), y = call(g, "tanh", {x}), z = call(g, "add", {y, a});
  g.set_outputs({z, call(g, "add", {w, a})});
  ModelEGraph e(g, sizes_of(g).interner);
  EXPECT_FALSE(e.constant(e.name(y)));
  e.unite(x, w);
  e.rebuild();
  EXPECT_TRUE(e.constant(e.name(x)));
  EXPECT_TRUE(e.constant(e.name(y)));
  EXPECT_TRUE(e.nodes().slot(y.node).constant);
  EXPECT_FALSE(e.constant(e.name(z)));
}

TEST_F(EGraphs, AValueMayBeMadeOfItself) {
  Graph g;
  Value a = input(g, {4, 4}), x = call(g, "relu", {a}), y = call(g, "relu", {x});
  g.set_outputs({y});
  rules_ = index_of({kReluTwice});
  Growth growth(g, sizes_of(g));
  EXPECT_EQ(fill(growth), StopReason::Exhausted);
  EXPECT_EQ(growth.graph().size(), 3);  // relu of a, and relu of itself
  EXPECT_EQ(growth.graph().name(x), growth.graph().name(y));
  Target target(growth);
  EXPECT_TRUE(target.optimal());
  EXPECT_TRUE(target.has(x.node));
  EXPECT_FALSE(target.has(y.node));
}

/// A program over square matrices, no two calls equal; of constants too large to be computed.
Graph random_graph(Rng& rng) {
  Graph g;
  std::vector<Value> values{input(g, {5, 5}), input(g, {5, 5}), weight(g, {5, 5})};
  std::set<std::string> seen;
  while (values.size() < 10) {
    const char* ops[] = {"matmul", "add", "relu", "transpose"};
    std::string op = ops[rng.below(4)];
    Value a = values[rng.below(values.size())], b = values[rng.below(values.size())];
    if (op == "add" && b < a) std::swap(a, b);
    bool pair = op == "matmul" || op == "add";
    std::string text = op + std::to_string(a.node) + (pair ? " " + std::to_string(b.node) : "");
    if (!seen.insert(text).second) continue;
    if (pair)
      values.push_back(call(g, op, {a, b}));
    else
      values.push_back(op == "relu" ? call(g, op, {a}) : call(g, op, {a}, {{1, 0}}));
  }
  g.set_outputs({values.begin() + 3, values.end()});
  return g;
}

TEST_F(EGraphs, MatchesAreThoseOfTheGraphWhileNothingIsEqual) {
  rules_ = index_of({kAssociate, kFactor, kMerge, kAddAssociate, kAddCommute, kReluTwice,
                     kTransposeTwice, kTransposeAdd});
  Rng rng(3);
  size_t all = 0;
  for (int k = 0; k < 300; ++k) {
    Graph g = random_graph(rng);
    Interner& interner = sizes_of(g).interner;
    LiveGraph live(g, interner);
    ModelEGraph e(g, interner);
    Fitter fitter(rules_, interner);
    using Key = std::tuple<int32_t, std::vector<int32_t>, std::vector<Value>>;
    auto key = [](const Place& p) {
      return Key{
          p.rule, {p.nodes.begin(), p.nodes.end()}, {p.variables.begin(), p.variables.end()}};
    };
    std::multiset<Key> wanted, found;
    for (int32_t id = 0; id < live.id_bound(); ++id)
      if (live.slot(id).kind == NodeKind::Call)
        rules_.tree().match(live, id, PlaceLimits(), [&](const Place& p) {
          bool fits = fitter.fit(live, p) != nullptr;
          if (fits) wanted.insert(key(p));
          return fits;
        });
    PlaceFinder finder(e, 1u << 20);
    for (size_t r = 0; r < rules_.rules().size(); ++r)
      finder.find(rules_.rules()[r], static_cast<int32_t>(r), [&](const Place& p) {
        if (fitter.fit(e.nodes(), p)) found.insert(key(p));
        return true;
      });
    EXPECT_EQ(wanted, found);
    all += wanted.size();
  }
  EXPECT_GT(all, 500u);
}

/// A product of n matrices, from the left.
Graph product(int n) {
  Graph g;
  const int64_t sizes[] = {8, 64, 4, 96, 16, 32, 2, 48};
  Value v = input(g, {sizes[0], sizes[1]});
  for (int k = 1; k < n; ++k) v = call(g, "matmul", {v, input(g, {sizes[k], sizes[k + 1]})});
  g.set_outputs({v});
  return g;
}

TEST_F(EGraphs, HoldAllOrdersOfAProduct) {
  rules_ = index_of({kAssociate, kAssociateBack});
  for (int n = 2; n <= 7; ++n) {
    Graph g = product(n);
    Growth growth(g, sizes_of(g));
    EXPECT_EQ(fill(growth), StopReason::Exhausted);
    int nodes = n;  // and for each part of the product a call for each place where it is cut
    for (int length = 2; length <= n; ++length) nodes += (n - length + 1) * (length - 1);
    EXPECT_EQ(growth.graph().size(), nodes);
    Target target(growth);
    EXPECT_TRUE(target.optimal());
    SearchReport all = make_searcher("exhaustive")->search(g, rules_, model_, {}, Stop());
    EXPECT_NEAR(target.cost(), all.cost_after, 1e-9 * all.cost_after);
  }
}

TEST_F(EGraphs, KeepTheirLimits) {
  rules_ = index_of({kAssociate, kAssociateBack});
  Graph g = product(7);
  Growth few(g, sizes_of(g));
  EXPECT_EQ(fill(few, 5), StopReason::Budget);
  EXPECT_EQ(few.events().size(), 5u);
  Growth small(g, sizes_of(g));
  EXPECT_EQ(fill(small, 1000, 20), StopReason::Memory);
  EXPECT_LE(small.graph().size(), 22);  // an event makes two nodes at most
}

TEST_F(EGraphs, HoldTheSameHoweverManyEventsAGenerationHas) {
  rules_ = index_of({kAssociate, kAssociateBack});
  Graph g = product(6);
  Growth all(g, sizes_of(g));
  EXPECT_EQ(fill(all), StopReason::Exhausted);
  for (uint64_t batch : {1, 3}) {
    Growth growth(g, sizes_of(g));
    EXPECT_EQ(fill(growth, 1u << 20, 1 << 20, batch), StopReason::Exhausted);
    EXPECT_EQ(growth.graph().size(), all.graph().size());
  }
}

TEST_F(EGraphs, ARuleThatMatchesTooOftenWaitsAndGetsThereInTheEnd) {
  rules_ = index_of({kMerge});
  Graph g;
  Value a = input(g, {4, 4});
  std::vector<Value> products;
  for (int k = 0; k < 12; ++k) products.push_back(call(g, "matmul", {a, input(g, {4, 4})}));
  g.set_outputs(products);
  Growth growth(g, sizes_of(g));
  // 132 ordered pairs, more than come in at once.
  EXPECT_EQ(fill(growth, 132), StopReason::Budget);
  std::set<std::vector<int32_t>> pairs;
  for (const Event& e : growth.events()) pairs.insert(e.nodes);
  EXPECT_EQ(pairs.size(), growth.events().size());
  EXPECT_EQ(growth.events().size(), 132u);
}

SearchReport search(std::string_view searcher, const Graph& g, const RuleIndex& rules,
                    SearchOptions options = {}) {
  return make_searcher(searcher)->search(g, rules, cost::Roofline(), options, Stop());
}

/// x a + (x b + z b) + z c. Going downhill joins the two in the middle, and two more products stay;
/// the others can be joined in pairs.
TEST(Saturation, WinsWhereGoingDownhillTakesAWrongTurn) {
  const std::string right =
      "factor-right (add (matmul ?a ?c) (matmul ?b ?c)) => (matmul (add ?a ?b) ?c) "
      "for a:nn b:nn c:nn proved:all-sizes";
  Graph g;
  Value x = input(g, {64, 64}), z = input(g, {64, 64});
  Value a = input(g, {64, 64}), b = input(g, {64, 64}), c = input(g, {64, 64});
  Value middle = call(g, "add", {call(g, "matmul", {x, b}), call(g, "matmul", {z, b})});
  Value sum = call(g, "add", {middle, call(g, "matmul", {z, c})});
  g.set_outputs({call(g, "add", {call(g, "matmul", {x, a}), sum})});
  RuleIndex rules = index_of({kFactor, right, kAddAssociate, kAddCommute});
  SearchReport greedy = search("greedy", g, rules), found = search("saturation", g, rules);
  EXPECT_EQ(cost::graph_cost(cost::Roofline(), greedy.best).calls_by_op["matmul"], 3);
  EXPECT_EQ(cost::graph_cost(cost::Roofline(), found.best).calls_by_op["matmul"], 2);
  EXPECT_TRUE(same_fingerprints(g, found.best));
  EXPECT_EQ(found.cost_after, search("exhaustive", g, rules).cost_after);
  auto again = replay(g, rules, found.steps, cost::Roofline(), {});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_string(*again), to_string(found.best));
}

/// Constants, makers of constants, and rules that lead one way only.
TEST(Saturation, LeadsToEqualGraphsByMoves) {
  RuleIndex rules = index_of(
      {kAssociate, kAssociateBack, kFactor, kMerge, kAddAssociate, kAddCommute, kReluTwice,
       kTransposeTwice, kTransposeAdd,
       "sub-self (sub ?a ?a) => (full shape=a.0,a.1) for a:nn proved:all-sizes",
       "minus (add ?a (sub (full value=0) ?b)) => (sub ?a ?b) for a:nn b:nn proved:all-sizes",
       "add-zero (add ?x (full value=0)) => ?x for x:nn proved:all-sizes"});
  cost::Roofline model;
  Rng rng(5);
  size_t steps = 0;
  for (int k = 0; k < 60; ++k) {
    Graph g = random_graph(rng);
    Value a{0, 0}, b = g.outputs().back();
    Value zero = call(g, "sub", {a, a}), sum = call(g, "add", {b, call(g, "matmul", {zero, b})});
    std::vector<Value> outputs = g.outputs();
    outputs.push_back(call(g, "add", {sum, zero}));
    g.set_outputs(outputs);
    SearchReport r = search("saturation", g, rules, {.budget = 3000});
    EXPECT_TRUE(validate(r.best).ok());
    EXPECT_TRUE(same_fingerprints(g, r.best)) << to_string(g);
    EXPECT_NEAR(r.cost_after, cost::graph_cost(model, r.best).total.microseconds, 1e-6);
    auto again = replay(g, rules, r.steps, model, {});
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(to_string(*again), to_string(r.best));
    steps += r.steps.size();
  }
  EXPECT_GT(steps, 50u);
}

/// One of two products reads what the other makes: joined, each would need itself.
TEST(Saturation, LeavesCyclesWhereTheyAre) {
  Graph g;
  Value x = input(g, {64, 64}), y = input(g, {64, 64}), z = input(g, {64, 64});
  Value first = call(g, "matmul", {x, y});
  Value second = call(g, "matmul", {x, call(g, "relu", {call(g, "add", {first, z})})});
  Value third = call(g, "matmul", {x, call(g, "relu", {call(g, "relu", {z})})});
  g.set_outputs({second, third});
  RuleIndex rules = index_of({kMerge, kReluTwice, kAddAssociate});
  SearchReport r = search("saturation", g, rules);
  EXPECT_TRUE(validate(r.best).ok());
  EXPECT_TRUE(topological_order(r.best).has_value());
  EXPECT_TRUE(same_fingerprints(g, r.best));
  EXPECT_NEAR(r.cost_after, search("exhaustive", g, rules, {.budget = 100000}).cost_after, 1e-6);
}

TEST(Saturation, ReportsItsLimits) {
  RuleIndex rules = index_of({kAssociate, kAssociateBack});
  SearchReport r = search("saturation", product(7), rules, {.budget = 20});
  EXPECT_EQ(r.stop, StopReason::Budget);
  EXPECT_LE(r.candidates, 20u);
  EXPECT_EQ(search("saturation", product(7), rules).stop, StopReason::Exhausted);
}

}  // namespace
}  // namespace regraft::rewrite

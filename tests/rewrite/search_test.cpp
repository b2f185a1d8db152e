#include "rewrite/compare/compare.h"
#include "rewrite/optimize.h"
#include "rewrite/search/backtracking.h"
#include "rewrite/search/greedy.h"
#include "rewrite/searchers.h"
#include "tests/rewrite/support.h"

namespace regraft::rewrite {
namespace {

const std::string kMergeConvs =
    "conv-merge (add (conv ?x ?w ?b pads=1,1,1,1) (conv ?x ?v ?c)) => "
    "(conv ?x (add ?w (pad ?v pads=0,0,1,1,0,0,1,1)) (add ?b ?c) pads=1,1,1,1) "
    "for x:nnnn w:nnnn b:n v:nn11 c:n proved:all-sizes";

SearchReport search(const Searcher& searcher, const Graph& g, const std::vector<std::string>& rules,
                    SearchOptions options = {}) {
  return searcher.search(g, index_of(rules), cost::Roofline(), options, Stop());
}

/// add(T x, T y) under a transpose: pushing the transpose down costs one call more, then saves
/// three.
Graph uphill_graph() {
  Graph g;
  Value x = input(g, {64, 32}), y = input(g, {64, 32});
  Value sum =
      call(g, "add", {call(g, "transpose", {x}, {{1, 0}}), call(g, "transpose", {y}, {{1, 0}})});
  g.set_outputs({call(g, "transpose", {sum}, {{1, 0}})});
  return g;
}

TEST(Search, GreedyTakesLearntRulesOnlyWhereNoOtherSaves) {
  Graph g;
  Value x = input(g, {Poly(64), Poly(64)});
  for (int k = 0; k < 3; ++k) x = call(g, "relu", {x});
  g.set_outputs({x});
  const std::string all =
      "relu-thrice  (relu (relu (relu ?a))) => (relu ?a)  for a:nn  proved:all-sizes";
  EXPECT_EQ(search(Greedy(), g, {kReluTwice, all}).applied,
            (std::map<std::string, int64_t>{{"relu-thrice", 1}}));
  EXPECT_EQ(search(Greedy(), g, {kReluTwice, all + "  origin:learnt"}).applied,
            (std::map<std::string, int64_t>{{"relu-twice", 2}}));
  EXPECT_EQ(search(Greedy(), g, {all + "  origin:learnt"}).applied,
            (std::map<std::string, int64_t>{{"relu-thrice", 1}}));
}

TEST(Search, BacktrackingGoesUphillWhereGreedyStops) {
  Graph g = uphill_graph();
  std::vector<std::string> rules{kTransposeAdd, kTransposeTwice};
  SearchReport greedy = search(Greedy(), g, rules);
  EXPECT_EQ(greedy.cost_after, greedy.cost_before);
  SearchReport strict = search(Backtracking(), g, rules, {.alpha = 1.0});
  EXPECT_EQ(strict.cost_after, strict.cost_before);
  SearchReport loose = search(Backtracking(), g, rules, {.alpha = 1.5});
  EXPECT_LT(loose.cost_after, loose.cost_before);
  EXPECT_EQ(cost::graph_cost(cost::Roofline(), loose.best).calls_by_op,
            (std::map<std::string, int64_t>{{"add", 1}}));
  EXPECT_EQ(loose.applied,
            (std::map<std::string, int64_t>{{"transpose-add", 1}, {"transpose-twice", 2}}));
  EXPECT_EQ(loose.stop, StopReason::Exhausted);
  ASSERT_FALSE(loose.improvements.empty());
  EXPECT_EQ(loose.improvements.back().depth, 3u);
  EXPECT_EQ(loose.improvements.back().rule, "transpose-twice");
  EXPECT_TRUE(same_fingerprints(g, loose.best));
}

/// A chain of products whose best order is not the given one.
Graph chain(int length) {
  Graph g;
  Value v = input(g, {64, 64});
  for (int k = 0; k < length; ++k)
    v = call(g, "matmul", {v, input(g, {64, k + 1 == length ? 1 : 64})});
  g.set_outputs({v});
  return g;
}

TEST(Search, FindsTheBestOrderOfAProduct) {
  Graph g = chain(4);
  SearchReport r = search(Backtracking(), g, {kAssociate}, {.alpha = 1.2});
  EXPECT_EQ(r.stop, StopReason::Exhausted);
  EXPECT_NEAR(cost::graph_cost(cost::Roofline(), r.best).total.microseconds, r.cost_after, 1e-6);
  Value out = r.best.outputs()[0];  // a (b (c (d e)))
  for (int depth = 0; depth < 4; ++depth) {
    ASSERT_EQ(r.best.node(out.node).kind, NodeKind::Call);
    out = r.best.node(out.node).inputs[1];
  }
  SearchReport greedy = search(Greedy(), g, {kAssociate});
  EXPECT_LT(greedy.cost_after, greedy.cost_before);
  EXPECT_GE(greedy.cost_after, r.cost_after - 1e-6);
}

TEST(Search, GivesTheSameAnswerOnAnyNumberOfThreads) {
  Graph g = chain(6);
  std::vector<std::string> rules{kAssociate, kAddAssociate};
  SearchReport one = search(Backtracking(), g, rules, {.alpha = 2, .budget = 300, .threads = 1});
  SearchReport two = search(Backtracking(), g, rules, {.alpha = 2, .budget = 300, .threads = 2});
  EXPECT_TRUE(structurally_equal(one.best, two.best));
  EXPECT_EQ(one.cost_after, two.cost_after);
  EXPECT_EQ(one.candidates, two.candidates);
  EXPECT_EQ(one.duplicates, two.duplicates);
  EXPECT_EQ(one.applied, two.applied);
  EXPECT_EQ(to_string(one.best), to_string(two.best));
}

TEST(Search, KeepsItsBudgetAndItsQueue) {
  Graph g = chain(7);
  SearchReport r = search(Backtracking(), g, {kAssociate}, {.alpha = 10, .budget = 50});
  EXPECT_EQ(r.stop, StopReason::Budget);
  EXPECT_EQ(r.candidates, 50u);
  EXPECT_GT(r.peak_queue, 3u);
  EXPECT_LT(r.cost_after, r.cost_before);
  SearchReport narrow = search(Backtracking(), g, {kAssociate}, {.alpha = 10, .max_queue = 3});
  EXPECT_LE(narrow.peak_queue, 3u);
  EXPECT_LT(narrow.cost_after, narrow.cost_before);
}

TEST(Search, ExpandsNoMoreGraphsThanAllowed) {
  Graph g = chain(7);
  SearchOptions options{.alpha = 10, .budget = 1000000, .max_expanded = 5};
  for (const char* name : {"backtracking", "partial-order", "taso"}) {
    SearchReport r = search(*make_searcher(name), g, {kAssociate}, options);
    EXPECT_EQ(r.stop, StopReason::Budget) << name;
    EXPECT_EQ(r.expanded, 5u) << name;
    EXPECT_LT(r.cost_after, r.cost_before) << name;
  }
  options.max_expanded = 0;
  SearchReport all = search(Backtracking(), g, {kAssociate}, options);
  EXPECT_EQ(all.stop, StopReason::Exhausted);
  EXPECT_GT(all.expanded, 5u);
}

TEST(Search, CountsDuplicates) {
  SearchReport r = search(Backtracking(), chain(4), {kAssociate}, {.alpha = 100});
  EXPECT_GT(r.duplicates, 0u);
  EXPECT_EQ(r.expanded, 14u);  // ways to bracket five matrices, reached from the left-most one
}

TEST(Search, SkippingCommutingMovesLosesNoGraph) {
  Graph g;
  std::vector<Value> outputs;
  for (int k = 0; k < 5; ++k) {
    Value v = input(g, {8, 8}), w = input(g, {8, 8}), u = input(g, {8, 8});
    outputs.push_back(call(g, "add", {call(g, "add", {v, w}), u}));
  }
  g.set_outputs(outputs);
  // Three ways to bracket each of five sums.
  RuleIndex rules = index_of({kAddCommute});
  cost::Roofline model;
  SearchOptions options{.budget = 1000000, .max_queue = 1000000};
  SearchReport all = Backtracking().search(g, rules, model, options, Stop());
  SearchReport fewer = Backtracking(true).search(g, rules, model, options, Stop());
  EXPECT_EQ(all.expanded, 243u);
  EXPECT_EQ(fewer.expanded, 243u);
  EXPECT_LT(fewer.candidates, all.candidates * 4 / 5);
  EXPECT_EQ(fewer.stop, StopReason::Exhausted);
}

TEST(Search, StopsInTimeWithTheBestSoFar) {
  Stop stop(1e-9);
  SearchReport r =
      Backtracking().search(chain(4), index_of({kAssociate}), cost::Roofline(), {}, stop);
  EXPECT_EQ(r.stop, StopReason::Time);
  EXPECT_EQ(r.cost_after, r.cost_before);
  Stop asked;
  asked.request();
  EXPECT_EQ(Greedy().search(chain(4), index_of({kAssociate}), cost::Roofline(), {}, asked).stop,
            StopReason::Interrupted);
}

TEST(Search, SeesThatAConstantWasExposed) {
  Graph g;
  Value x = input(g, {4, 4}), w = weight(g, {4, 4});
  Value cancelled = call(g, "matmul", {call(g, "sub", {x, x}), w});
  g.set_outputs({call(g, "add", {x, call(g, "relu", {cancelled})})});
  const std::string rule = "sub-self (sub ?a ?a) => (full shape=a.0,a.1) for a:nn proved:all-sizes";
  for (const Searcher* s :
       {static_cast<const Searcher*>(new Greedy), static_cast<const Searcher*>(new Backtracking)}) {
    std::unique_ptr<const Searcher> owned(s);
    SearchReport r = search(*owned, g, {rule});
    EXPECT_EQ(cost::graph_cost(cost::Roofline(), r.best).calls, 1);
    EXPECT_NEAR(cost::graph_cost(cost::Roofline(), r.best).total.microseconds, r.cost_after, 1e-6);
  }
}

/// A block with a 3x3 and a 1x1 branch, as trained; `size` pixels square.
Graph two_branches(int64_t channels, int64_t size) {
  Graph g;
  Value x = input(g, {1, channels, size, size});
  Value wide =
      call(g, "conv", {x, weight(g, {channels, channels, 3, 3}, 2), weight(g, {channels}, 3)},
           {{}, {1, 1, 1, 1}});
  Value narrow =
      call(g, "conv", {x, weight(g, {channels, channels, 1, 1}, 4), weight(g, {channels}, 5)});
  g.set_outputs({call(g, "relu", {call(g, "add", {wide, narrow})})});
  return g;
}

TEST(Optimize, MergesBranchesAndFoldsTheirWeights) {
  Graph g = two_branches(4, 6);
  auto r = optimize(g, index_of({kMergeConvs}), cost::Roofline(), Backtracking(), {}, Stop());
  ASSERT_TRUE(r.has_value()) << r.error().message;
  EXPECT_EQ(r->before.calls,
            (std::map<std::string, int64_t>{{"add", 1}, {"conv", 2}, {"relu", 1}}));
  EXPECT_EQ(r->after.calls, (std::map<std::string, int64_t>{{"conv", 1}, {"relu", 1}}));
  EXPECT_EQ(r->before.parameters, 4 * 4 * 9 + 4 + 4 * 4 + 4);
  EXPECT_EQ(r->after.parameters, 4 * 4 * 9 + 4);
  EXPECT_LT(r->after.cost.microseconds, r->before.cost.microseconds);
  EXPECT_EQ(r->search.applied, (std::map<std::string, int64_t>{{"conv-merge", 1}}));
  EXPECT_EQ(r->calls_folded, 2);
  auto check = compare(g, r->graph, {}, Stop());
  ASSERT_TRUE(check.has_value()) << check.error().message;
  EXPECT_TRUE(check->agrees);
  EXPECT_LT(check->max_relative, 1e-6);
  EXPECT_GT(check->values_run, 0);
}

TEST(Search, TakesImprovementsFarApartInOneStep) {
  Graph g;
  Value v = input(g, {8, 8});
  for (int k = 0; k < 40; ++k) v = call(g, "tanh", {call(g, "relu", {call(g, "relu", {v})})});
  g.set_outputs({v});
  SearchReport greedy = search(Greedy(), g, {kReluTwice}),
               back = search(Backtracking(), g, {kReluTwice});
  for (const SearchReport* r : {&greedy, &back}) {
    EXPECT_EQ(r->applied, (std::map<std::string, int64_t>{{"relu-twice", 40}}));
    EXPECT_LE(r->candidates, 200u);
  }
}

TEST(Optimize, DoesNotMergeWhereTheConditionFails) {
  Graph g;
  Value x = input(g, {1, 4, 6, 6});
  Value strided =
      call(g, "conv", {x, weight(g, {4, 4, 3, 3}), weight(g, {4})}, {{2, 2}, {1, 1, 1, 1}});
  Value narrow = call(g, "conv", {x, weight(g, {4, 4, 1, 1}), weight(g, {4})}, {{2, 2}});
  g.set_outputs({call(g, "add", {strided, narrow})});
  auto r = optimize(g, index_of({kMergeConvs}), cost::Roofline(), Backtracking(), {}, Stop());
  ASSERT_TRUE(r.has_value());
  EXPECT_EQ(r->after.calls, r->before.calls);
}

}  // namespace
}  // namespace regraft::rewrite

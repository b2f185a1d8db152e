// What holds for every searcher.
#include "rewrite/searchers.h"

#include "rewrite/search/replay.h"
#include "rewrite/windows/window.h"
#include "tests/rewrite/support.h"

namespace regraft::rewrite {
namespace {

const std::vector<std::string> kRules{kAssociate, kFactor,     kMerge,          kAddAssociate,
                                      kReluTwice, kAddCommute, kTransposeTwice, kTransposeAdd};

/// Sums, products in a bad order, transposes that cancel after an uphill step, twice.
Graph graph() {
  Graph g;
  Value v = input(g, {64, 48});
  for (int k = 0; k < 2; ++k) {
    Value a = input(g, {48, 64}), b = input(g, {64, 8}), c = input(g, {8, 48});
    v = call(g, "matmul", {call(g, "matmul", {call(g, "matmul", {v, a}), b}), c});
    Value w = input(g, {64, 48});
    Value sum =
        call(g, "add", {call(g, "transpose", {v}, {{1, 0}}), call(g, "transpose", {w}, {{1, 0}})});
    v = call(g, "relu", {call(g, "relu", {call(g, "transpose", {sum}, {{1, 0}})})});
  }
  g.set_outputs({v});
  return g;
}

class EverySearcher : public testing::TestWithParam<std::string> {
 protected:
  SearchReport search(const Graph& g, SearchOptions options = {}, const Stop& stop = Stop()) {
    return make_searcher(GetParam())->search(g, rules_, model_, options, stop);
  }
  RuleIndex rules_ = index_of(kRules);
  cost::Roofline model_;
};

TEST_P(EverySearcher, ReportsWhatItDid) {
  Graph g = graph();
  SearchReport r = search(g, {.alpha = 1.2, .budget = 20000});
  EXPECT_LT(r.cost_after, r.cost_before);
  EXPECT_NEAR(r.cost_before, cost::graph_cost(model_, g).total.microseconds, 1e-6);
  EXPECT_NEAR(r.cost_after, cost::graph_cost(model_, r.best).total.microseconds, 1e-6);
  EXPECT_TRUE(validate(r.best).ok());
  EXPECT_TRUE(same_fingerprints(g, r.best));
  EXPECT_LE(r.candidates, 20000u);
  ASSERT_FALSE(r.improvements.empty());
  EXPECT_NEAR(r.improvements.back().cost, r.cost_after, 1e-6);
  EXPECT_EQ(r.improvements.back().depth, r.steps.size());
  for (size_t k = 1; k < r.improvements.size(); ++k) {
    EXPECT_LT(r.improvements[k].cost, r.improvements[k - 1].cost);
    EXPECT_GE(r.improvements[k].candidate, r.improvements[k - 1].candidate);
  }
  auto again = replay(g, rules_, r.steps, model_, {});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_string(*again), to_string(r.best));
}

TEST_P(EverySearcher, FindsTheBestGraphBehindAnUphillStep) {
  SearchReport r = search(graph(), {.alpha = 1.2, .budget = 20000});
  auto calls = cost::graph_cost(model_, r.best).calls_by_op;
  bool downhill = GetParam() == "greedy" || GetParam() == "clean-up";
  EXPECT_EQ(calls["transpose"], downhill ? 6 : 0);
  EXPECT_EQ(calls["relu"], 2);
}

TEST_P(EverySearcher, GivesTheSameAnswerEachTimeAndOnAnyNumberOfThreads) {
  SearchReport one = search(graph(), {.budget = 3000, .threads = 1, .seed = 5});
  for (int threads : {1, 2, 4}) {
    SearchReport r = search(graph(), {.budget = 3000, .threads = threads, .seed = 5});
    EXPECT_EQ(to_string(r.best), to_string(one.best));
    EXPECT_EQ(r.cost_after, one.cost_after);
    EXPECT_EQ(r.candidates, one.candidates);
    EXPECT_EQ(r.expanded, one.expanded);
    EXPECT_EQ(r.duplicates, one.duplicates);
    EXPECT_EQ(r.applied, one.applied);
  }
}

TEST_P(EverySearcher, StopsWhenItIsTold) {
  SearchReport late = search(graph(), {.budget = 1u << 30}, Stop(1e-9));
  EXPECT_EQ(late.stop, StopReason::Time);
  Stop asked;
  asked.request();
  SearchReport interrupted = search(graph(), {.budget = 1u << 30}, asked);
  EXPECT_EQ(interrupted.stop, StopReason::Interrupted);
  EXPECT_NEAR(interrupted.cost_after, cost::graph_cost(model_, interrupted.best).total.microseconds,
              1e-6);
}

TEST_P(EverySearcher, LeavesAGraphWithoutMatchesAsItIs) {
  Graph g;
  g.set_outputs({call(g, "relu", {input(g, {2, 2})})});
  SearchReport r = search(g);
  EXPECT_EQ(r.stop, StopReason::Exhausted);
  EXPECT_EQ(r.cost_after, r.cost_before);
  EXPECT_TRUE(structurally_equal(g, r.best));
  EXPECT_TRUE(r.steps.empty());
}

TEST_P(EverySearcher, DoesNotGrowAGraphBeyondItsLimit) {
  Graph g;
  Value a = input(g, {64, 64}), b = input(g, {64, 64});
  Value sum = call(g, "add", {call(g, "matmul", {a, b}), call(g, "relu", {a})});
  g.set_outputs({call(g, "transpose", {sum}, {{1, 0}})});
  const std::string grow =
      "grow (transpose ?a perm=1,0) => (transpose (transpose (transpose ?a perm=1,0) perm=1,0) "
      "perm=1,0) for a:nn proved:all-sizes";
  RuleIndex rules = index_of({grow});
  SearchReport r =
      make_searcher(GetParam())
          ->search(g, rules, model_, {.alpha = 100, .budget = 3000, .max_growth = 1.5}, Stop());
  EXPECT_EQ(r.cost_after, r.cost_before);
  EXPECT_LT(r.candidates, 3001u);
}

INSTANTIATE_TEST_SUITE_P(Searchers, EverySearcher, testing::ValuesIn(searcher_names()),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Searchers, APortfolioEndsByItselfAtTheBestOfItsMembers) {
  RuleIndex rules = index_of(kRules);
  cost::Roofline model;
  auto search = [&](std::string_view name) {
    return make_searcher(name)->search(graph(), rules, model, {.budget = 100000}, Stop());
  };
  SearchReport both = search("portfolio");
  EXPECT_NE(both.stop, StopReason::Budget);
  EXPECT_LT(both.candidates, 50000u);
  for (const char* member : {"windows", "saturation"})
    EXPECT_LE(both.cost_after, search(member).cost_after * (1 + 1e-9)) << member;
}

TEST(Searchers, AnUnknownNameIsNone) { EXPECT_EQ(make_searcher("nosuch"), nullptr); }

TEST(Region, HasWhatIsNearAndWhatIsNew) {
  Graph g;
  Value v = input(g, {4, 4});
  std::vector<Value> chain;
  for (int k = 0; k < 6; ++k) chain.push_back(v = call(g, k < 4 ? "tanh" : "relu", {v}));
  g.set_outputs({v});
  RuleIndex rules = index_of({kReluTwice});
  cost::Roofline model;
  Engine engine(g, rules, model);
  Region region(engine);
  region.grow(chain[5].node, 2);
  EXPECT_EQ(region.nodes(), (std::vector<int32_t>{chain[3].node, chain[4].node, chain[5].node}));
  ASSERT_EQ(engine.matches().size(), 1u);
  EXPECT_TRUE(region.contains(engine.match(engine.matches()[0])));
  uint64_t before = region.identity();
  engine.apply(engine.matches()[0]);
  EXPECT_NE(region.identity(), before);
  EXPECT_EQ(region.nodes().size(), 2u);
  engine.undo();
  EXPECT_EQ(region.identity(), before);
  region.grow(chain[0].node, 1);
  uint64_t first = region.likeness();
  region.grow(chain[1].node, 1);
  EXPECT_NE(region.likeness(), first);  // three calls
  uint64_t second = region.likeness();
  region.grow(chain[2].node, 1);
  EXPECT_EQ(region.likeness(), second);
  region.grow(chain[3].node, 1);
  EXPECT_NE(region.likeness(), second);  // another operator
  region.grow(chain[0].node, 1);
  EXPECT_FALSE(region.contains(engine.match(engine.matches()[0])));
}

}  // namespace
}  // namespace regraft::rewrite

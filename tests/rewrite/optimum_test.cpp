// Exhaustive search, and how near the others come.
#include "rewrite/search/reporter.h"
#include "rewrite/searchers.h"
#include "tests/rewrite/support.h"

namespace regraft::rewrite {
namespace {

const std::string kAssociateBack =
    "matmul-associate-back (matmul ?a (matmul ?b ?c)) => (matmul (matmul ?a ?b) ?c) "
    "for a:nn b:nn c:nn proved:all-sizes";

SearchReport search(std::string_view searcher, const Graph& g, const RuleIndex& rules,
                    SearchOptions options = {}) {
  return make_searcher(searcher)->search(g, rules, cost::Roofline(), options, Stop());
}

/// A product of matrices of sizes that make its order matter.
Graph product(int factors) {
  Graph g;
  const int64_t sizes[] = {8, 64, 4, 96, 16, 32, 2, 48};
  Value v = input(g, {sizes[0], sizes[1]});
  for (int k = 1; k < factors; ++k) v = call(g, "matmul", {v, input(g, {sizes[k], sizes[k + 1]})});
  g.set_outputs({v});
  return g;
}

TEST(Exhaustive, VisitsEachOrderOfAProductOnce) {
  RuleIndex rules = index_of({kAssociate, kAssociateBack});
  const uint64_t orders[] = {1, 1, 2, 5, 14, 42, 132};  // Catalan's numbers
  for (int factors = 2; factors <= 7; ++factors) {
    SearchReport r = search("exhaustive", product(factors), rules, {.budget = 100000});
    EXPECT_EQ(r.stop, StopReason::Exhausted);
    EXPECT_EQ(r.expanded, orders[factors - 1]);
    EXPECT_EQ(r.candidates, r.duplicates + r.rejected + r.expanded - 1);
  }
}

TEST(Exhaustive, SaysWhichLimitStoppedIt) {
  RuleIndex rules = index_of({kAssociate, kAssociateBack});
  SearchReport r = search("exhaustive", product(7), rules, {.budget = 50});
  EXPECT_EQ(r.stop, StopReason::Budget);
  EXPECT_EQ(r.candidates, 50u);
  EXPECT_LE(r.cost_after, r.cost_before);
}

TEST(Exhaustive, CountsConstantCallsAgainstItsLimit) {
  const std::string grow =
      "grow (matmul ?a ?b) => (matmul ?a (transpose (transpose ?b perm=1,0) perm=1,0)) "
      "for a:nn b:nn proved:all-sizes";
  Graph g;
  g.set_outputs({call(g, "matmul", {input(g, {4, 4}), weight(g, {4, 4})})});
  SearchReport r = search("exhaustive", g, index_of({grow}), {.budget = 1000, .max_growth = 5});
  EXPECT_EQ(r.stop, StopReason::Exhausted);
  EXPECT_EQ(r.expanded, 3u);  // no, one and two pairs of transposes
}

/// A few calls on matrices that are no constants.
Graph random_graph(uint64_t seed) {
  Rng rng(seed);
  Graph g;
  std::vector<Value> values{input(g, {32, 32}), input(g, {32, 4}), input(g, {4, 32})};
  auto any = [&] {
    return values[values.size() - 1 - rng.below(std::min<size_t>(values.size(), 5))];
  };
  const size_t count = values.size() + 5 + rng.below(4);
  while (values.size() < count) {
    Value a = any(), b = any();
    switch (rng.below(6)) {
      case 0:
      case 1:
        if (g.shape(a)[1].constant() == g.shape(b)[0].constant())
          values.push_back(call(g, "matmul", {a, b}));
        break;
      case 2:
      case 3:
        if (numeric(g.shape(a)) == numeric(g.shape(b))) values.push_back(call(g, "add", {a, b}));
        break;
      case 4:
        values.push_back(call(g, "transpose", {a}, {{1, 0}}));
        break;
      default:
        if (rng.below(2)) values.push_back(call(g, "relu", {a}));
    }
  }
  g.set_outputs({values.back(), values[values.size() - 2]});
  remove_dead(g);
  return g;
}

const std::vector<std::string> kRules{
    kAssociate,
    kAssociateBack,
    kFactor,
    kMerge,
    kAddAssociate,
    kAddCommute,
    kReluTwice,
    kTransposeTwice,
    kTransposeAdd,
    "transpose-matmul (transpose (matmul ?a ?b) perm=1,0) => "
    "(matmul (transpose ?b perm=1,0) (transpose ?a perm=1,0)) for a:nn b:nn proved:all-sizes",
    "matmul-transposes (matmul (transpose ?b perm=1,0) (transpose ?a perm=1,0)) => "
    "(transpose (matmul ?a ?b) perm=1,0) for a:nn b:nn proved:all-sizes",
    "add-transposes (add (transpose ?a perm=1,0) (transpose ?b perm=1,0)) => "
    "(transpose (add ?a ?b) perm=1,0) for a:nn b:nn proved:all-sizes"};

TEST(Optimum, NoSearcherGoesBelowItAndTheDefaultMostlyReachesIt) {
  RuleIndex rules = index_of(kRules);
  std::map<std::string, int> reached;
  int graphs = 0, improvable = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Graph g = random_graph(seed);
    SearchReport all = search("exhaustive", g, rules, {.budget = 50000});
    if (all.stop != StopReason::Exhausted) continue;
    ++graphs;
    improvable += cheaper(all.cost_after, all.cost_before);
    EXPECT_TRUE(same_fingerprints(g, all.best)) << seed;
    for (const std::string& name : searcher_names()) {
      SearchReport r = search(name, g, rules);
      EXPECT_FALSE(cheaper(r.cost_after, all.cost_after)) << name << " " << seed;
      reached[name] += !cheaper(all.cost_after, r.cost_after);
    }
  }
  for (const auto& [name, n] : reached) RecordProperty(name, n);
  EXPECT_GE(graphs, 50);      // measured: 56
  EXPECT_GE(improvable, 14);  // 17
  EXPECT_LT(reached["greedy"], graphs);
  EXPECT_GE(reached["windows"], graphs - 2);  // all of them
  EXPECT_GE(reached["saturation"], graphs - 2);
}

}  // namespace
}  // namespace regraft::rewrite

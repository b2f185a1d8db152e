// The clean-up: detours over graphs of as many calls, or more.
#include "rewrite/search/clean_up.h"

#include "tests/rewrite/support.h"

namespace regraft::rewrite {
namespace {

const std::string kTanh =
    "tanh-below (tanh (reshape ?a shape=?s1,?s2,?s3)) => (reshape (tanh ?a) shape=?s1,?s2,?s3) "
    "for a:nn proved:all-sizes";
const std::string kMul =
    "mul-below (mul (reshape ?a shape=?s1,?s2,?s3) (reshape ?b shape=?s1,?s2,?s3)) => "
    "(reshape (mul ?a ?b) shape=?s1,?s2,?s3) where b.0=a.0,b.1=a.1 for a:nn b:nn "
    "proved:all-sizes";
const std::string kThereAndBack =
    "there-and-back (reshape (reshape ?a shape=?s1,?s2,?s3) shape=a.0,a.1) => ?a for a:nn "
    "proved:all-sizes";

SearchReport clean(const Graph& g, const std::vector<std::string>& rules) {
  return CleanUp().search(g, index_of(rules), cost::Roofline(), {}, Stop());
}

std::map<std::string, int64_t> calls(const Graph& g) {
  return cost::graph_cost(cost::Roofline(), g).calls_by_op;
}

/// x tanh(x), between a reshape and its inverse; `last` is the shape at the end.
Graph between_reshapes(const std::vector<int64_t>& last) {
  Graph g;
  Value r = call(g, "reshape", {input(g, {6, 8})}, {{2, 3, 8}});
  Value y = call(g, "mul", {r, call(g, "tanh", {r})});
  g.set_outputs({call(g, "reshape", {y}, {last})});
  return g;
}

TEST(CleanUp, ReshapesSinkUntilTheyCancel) {
  Graph g = between_reshapes({6, 8});
  SearchReport r = clean(g, {kTanh, kMul, kThereAndBack});
  EXPECT_EQ(calls(r.best), (std::map<std::string, int64_t>{{"mul", 1}, {"tanh", 1}}));
  EXPECT_TRUE(same_fingerprints(g, r.best));
  EXPECT_EQ(r.stop, StopReason::Exhausted);
}

TEST(CleanUp, ADetourThatLeadsNowhereIsTakenBack) {
  Graph g = between_reshapes({16, 3});
  SearchReport r = clean(g, {kTanh, kMul, kThereAndBack});
  EXPECT_TRUE(r.steps.empty());
  EXPECT_EQ(calls(r.best), calls(g));
}

TEST(CleanUp, BringsNoCopies) {
  Graph g;
  Value x = input(g, {8, 8}), w = weight(g, {8, 8}, 1), v = weight(g, {8, 8}, 2),
        u = weight(g, {8, 8}, 3);
  g.set_outputs({call(g, "matmul", {x, w}), call(g, "matmul", {x, v}), call(g, "matmul", {x, u})});
  EXPECT_TRUE(clean(g, {kMerge}).steps.empty());
}

TEST(CleanUp, AMoveMayEnableTheNext) {
  Graph g;
  Value a = input(g, {4, 4}), b = input(g, {4, 4}), c = input(g, {4, 4});
  Value bc = call(g, "matmul", {b, c});
  Value ab = call(g, "matmul", {a, b});
  g.set_outputs({call(g, "matmul", {ab, c}), call(g, "tanh", {bc})});
  SearchReport r = clean(g, {kAssociate});  // a (b c) has b c already
  EXPECT_EQ(calls(r.best), (std::map<std::string, int64_t>{{"matmul", 2}, {"tanh", 1}}));
}

TEST(CleanUp, MayBeDoneWithoutARule) {
  Graph g;
  Value v = call(g, "relu", {call(g, "relu", {input(g, {4, 4})})});
  g.set_outputs({call(g, "transpose", {call(g, "transpose", {v}, {{1, 0}})}, {{1, 0}})});
  RuleIndex rules = index_of({kReluTwice, kTransposeTwice});
  auto left = [&](const CleanUp& clean_up) {
    return calls(clean_up.search(g, rules, cost::Roofline(), {}, Stop()).best);
  };
  EXPECT_EQ(left(CleanUp()), (std::map<std::string, int64_t>{{"relu", 1}}));
  for (size_t k = 0; k < rules.rules().size(); ++k) {
    std::vector<char> without(rules.rules().size(), 0);
    without[k] = 1;
    const bool relu = rules.rules()[k].rule.name == rule_of(kReluTwice).name;
    auto expected = relu ? std::map<std::string, int64_t>{{"relu", 2}}
                         : std::map<std::string, int64_t>{{"relu", 1}, {"transpose", 2}};
    EXPECT_EQ(left(CleanUp(without)), expected);
  }
}

}  // namespace
}  // namespace regraft::rewrite

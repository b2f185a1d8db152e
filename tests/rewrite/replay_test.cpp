// What a search did can be done again, and only that.
#include "rewrite/search/replay.h"

#include "rewrite/search/backtracking.h"
#include "rewrite/search/greedy.h"
#include "tests/rewrite/support.h"

namespace regraft::rewrite {
namespace {

const std::vector<std::string> kRules{kAssociate, kFactor, kMerge, kReluTwice, kTransposeTwice};

/// x(w + v) relu relu, with more to do.
Graph graph() {
  Graph g;
  Value x = input(g, {64, 32}), w = input(g, {32, 16}), v = input(g, {32, 16});
  Value sum = call(g, "add", {call(g, "matmul", {x, w}), call(g, "matmul", {x, v})});
  Value twice = call(g, "relu", {call(g, "relu", {sum})});
  Value back = call(g, "transpose", {call(g, "transpose", {twice}, {{1, 0}})}, {{1, 0}});
  g.set_outputs({back});
  return g;
}

class Replay : public testing::Test {
 protected:
  Graph before_ = graph();
  RuleIndex rules_ = index_of(kRules);
  cost::Roofline model_;
  SearchReport report_ = Backtracking().search(before_, rules_, model_, {}, Stop());

  Result<Graph> again(const std::vector<AppliedRule>& steps) {
    return replay(before_, rules_, steps, model_, {});
  }
};

TEST_F(Replay, LeadsToTheSameGraph) {
  ASSERT_GE(report_.steps.size(), 3u);
  auto g = again(report_.steps);
  ASSERT_TRUE(g) << g.error().message;
  EXPECT_TRUE(structurally_equal(*g, report_.best));
  SearchReport greedy = Greedy().search(before_, rules_, model_, {}, Stop());
  auto h = again(greedy.steps);
  ASSERT_TRUE(h) << h.error().message;
  EXPECT_TRUE(structurally_equal(*h, greedy.best));
}

TEST_F(Replay, NoStepsChangeNothing) {
  auto g = again({});
  ASSERT_TRUE(g);
  EXPECT_TRUE(structurally_equal(*g, before_));
}

TEST_F(Replay, AStepLessIsAnotherGraph) {
  std::vector<AppliedRule> fewer(report_.steps.begin(), report_.steps.end() - 1);
  auto g = again(fewer);
  ASSERT_TRUE(g);
  EXPECT_FALSE(structurally_equal(*g, report_.best));
}

TEST_F(Replay, GoesForthAndBack) {
  Replayer replayer(before_, rules_, report_.steps, model_, {});
  const std::span<const AppliedRule> steps = report_.steps;
  for (size_t count : {steps.size(), size_t{1}, steps.size() - 1, size_t{0}}) {
    auto there = replayer.after(count);
    ASSERT_TRUE(there) << there.error().message;
    auto anew = replay(before_, rules_, steps.first(count), model_, {});
    ASSERT_TRUE(anew) << anew.error().message;
    EXPECT_TRUE(structurally_equal(*there, *anew));
  }
}

TEST_F(Replay, WhatIsNoMatchIsRefused) {
  auto refused = [&](auto&& change, const std::string& why) {
    std::vector<AppliedRule> steps = report_.steps;
    change(steps[0]);
    auto g = again(steps);
    ASSERT_FALSE(g);
    EXPECT_EQ(g.error().message.find("step 0: "), 0u) << g.error().message;
    EXPECT_NE(g.error().message.find(why), std::string::npos) << g.error().message;
  };
  refused([](AppliedRule& s) { s.rule = "nosuch"; }, "no rule nosuch");
  refused([](AppliedRule& s) { s.nodes[0] = 1 << 20; }, "other nodes");
  refused([](AppliedRule& s) { s.nodes[0] = -1; }, "other nodes");
  refused([](AppliedRule& s) { s.nodes.pop_back(); }, "other nodes");
  refused([](AppliedRule& s) { s.variables[0] = {0, 3}; }, "does not apply");
  refused(
      [&](AppliedRule& s) {
        s.rule = "matmul-associate", s.nodes = {3, 4};
      },
      "matmul-associate");
}

}  // namespace
}  // namespace regraft::rewrite

#include <gtest/gtest.h>

#include "rewrite/search/greedy.h"
#include "rl/environment/episodes.h"
#include "rl/network/network_file.h"
#include "rl/search.h"
#include "tests/rl/graphs.h"

namespace regraft::rl {
namespace {

/// Counts what it is asked.
class Counting final : public Policy {
 public:
  Judgement judge(const Observation& o) const override {
    ++asked;
    return prior_->judge(o);
  }
  std::string description() const override { return "counting"; }
  mutable std::atomic<int> asked = 0;

 private:
  std::unique_ptr<Policy> prior_ = cost_prior();
};

rewrite::SearchReport search(PolicyMode mode, const std::shared_ptr<const Policy>& policy,
                             uint64_t budget = 20000) {
  rewrite::SearchOptions options;
  options.budget = budget;
  options.seed = 5;
  return PolicySearch(policy, mode).search(layers(6), shipped_rules(), roofline(), options, Stop());
}

TEST(PolicyModes, NoneButAloneIsWorseThanDownhill) {
  auto downhill = rewrite::Greedy().search(layers(6), shipped_rules(), roofline(), {}, Stop());
  RuleTable rules = describe(shipped_rules());
  std::shared_ptr<const Policy> policies[] = {
      cost_prior(), uniform_policy(),
      network_policy(Network({.width = 8, .hidden = 8}, rules.columns, 3), rules, "random")};
  for (const auto& policy : policies) {
    for (const auto& name : policy_mode_names()) {
      auto report = search(*policy_mode_named(name), policy);
      if (name != "alone") {
        EXPECT_LE(report.cost_after, downhill.cost_after * (1 + 1e-9)) << name;
      }
      EXPECT_LE(report.candidates, 20000U);
      Environment env(report.best, shipped_rules(), roofline(), {});
      EXPECT_NEAR(env.cost(), report.cost_after, 1e-6 * env.cost()) << name;
    }
  }
}

TEST(PolicyModes, AloneIsOneEpisodeOfWhatIsMostWanted) {
  std::shared_ptr<const Policy> policy = cost_prior(0.1);
  EnvironmentOptions options;
  options.max_steps = 64 + 2 * static_cast<int>(layers(6).node_count());
  Environment env(layers(6), shipped_rules(), roofline(), options);
  Rng unused(0);
  Trajectory e = run_episode(env, most_wanted(*policy), unused);
  auto report = search(PolicyMode::Alone, policy);
  EXPECT_DOUBLE_EQ(report.cost_after, e.least);
  EXPECT_EQ(report.expanded, e.actions.size());
  EXPECT_LE(search(PolicyMode::Greedy, policy).cost_after, report.cost_after * (1 + 1e-9));
}

TEST(PolicyModes, ScheduledGoesOnFromGreedyInThePolicysOrder) {
  auto policy = std::make_shared<Counting>();
  auto greedy = search(PolicyMode::Greedy, policy);
  int asked = policy->asked;
  EXPECT_GT(asked, 0);
  auto scheduled = search(PolicyMode::Scheduled, policy);
  EXPECT_GT(policy->asked, 2 * asked);
  EXPECT_LE(scheduled.cost_after, greedy.cost_after * (1 + 1e-9));
  ASSERT_GE(scheduled.steps.size(), greedy.steps.size());
  for (size_t k = 0; k < greedy.steps.size(); ++k)
    EXPECT_EQ(scheduled.steps[k].rule, greedy.steps[k].rule);
}

TEST(PolicyModes, TheSameSeedGivesTheSame) {
  for (const auto& name : policy_mode_names()) {
    auto a = search(*policy_mode_named(name), cost_prior(1), 5000);
    auto b = search(*policy_mode_named(name), cost_prior(1), 5000);
    EXPECT_EQ(a.cost_after, b.cost_after);
    EXPECT_EQ(a.candidates, b.candidates);
  }
}

TEST(PolicyModes, NamesLeadBackToModes) {
  auto names = policy_mode_names();
  EXPECT_EQ(names.size(), 6U);
  for (const auto& name : names) EXPECT_TRUE(policy_mode_named(name)) << name;
  EXPECT_EQ(policy_mode_named("scheduled"), PolicyMode::Scheduled);
  EXPECT_FALSE(policy_mode_named("other"));
}

}  // namespace
}  // namespace regraft::rl

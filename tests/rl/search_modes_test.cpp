#include <gtest/gtest.h>

#include "rewrite/windows.h"
#include "rl/scheduler.h"
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

TEST(PolicyModes, ScheduledIsWindowsInThePolicysOrder) {
  Graph g = layers(6);
  auto policy = std::make_shared<Counting>();
  rewrite::SearchOptions options{.budget = 3000, .seed = 5};
  auto a = PolicySearch(policy, PolicyMode::Scheduled)
               .search(g, shipped_rules(), roofline(), options, Stop());
  EXPECT_GT(policy->asked, 0);
  auto b = rewrite::Windows(window_order(cost_prior()))
               .search(g, shipped_rules(), roofline(), options, Stop());
  EXPECT_LT(a.cost_after, a.cost_before);
  EXPECT_EQ(a.cost_after, b.cost_after);
  EXPECT_EQ(a.candidates, b.candidates);
  EXPECT_EQ(a.applied, b.applied);
}

TEST(PolicyModes, NamesLeadBackToModes) {
  auto names = policy_mode_names();
  EXPECT_EQ(names.size(), 4U);
  for (const auto& name : names) EXPECT_TRUE(policy_mode_named(name)) << name;
  EXPECT_EQ(policy_mode_named("scheduled"), PolicyMode::Scheduled);
  EXPECT_FALSE(policy_mode_named("other"));
}

}  // namespace
}  // namespace regraft::rl

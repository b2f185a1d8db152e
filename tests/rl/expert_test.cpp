#include "rl/planner/expert.h"

#include <numeric>

#include "tests/rl/barrier.h"

namespace regraft::rl {
namespace {

TEST(Expert, AnEpisodeCrossesBarriersAndSaysWhatItSaved) {
  Environment env(valleys(2), barrier_rules(), roofline(), {.ceiling = 2});
  Rng rng(2);
  Episode e = plan_episode(env, *uniform_policy(), {.simulations = 64}, rng);
  ASSERT_FALSE(e.samples.empty());
  double saved = 100 * (env.original() - e.best) / env.original();
  EXPECT_GT(saved, 10);
  EXPECT_NEAR(*e.samples.front().value, saved, 1e-4);
  double before = 100;
  for (const ExpertSample& s : e.samples) {
    ASSERT_EQ(s.policy.size(), s.observation.matches() + 1);
    EXPECT_NEAR(std::accumulate(s.policy.begin(), s.policy.end(), 0.0), 1, 1e-5);
    EXPECT_TRUE(s.worths.match.empty());
    double cost = 100 * s.observation.global[0];
    EXPECT_LE(*s.value, saved - (100 - cost) + 1e-3);  // nothing cheaper was met
    EXPECT_GE(*s.value, 0);
    before = std::min(before, cost - *s.value);
  }
  EXPECT_NEAR(before, 100 - saved, 1e-3);
  env.reset(e.moves);
  EXPECT_EQ(env.cost(), e.best);
  EXPECT_EQ(count_of(env.engine().to_graph(), "transpose"), 0U);
}

TEST(Expert, AnEpisodeMayBeginAnywhere) {
  Environment env(layers(2), shipped_rules(), roofline(), {});
  env.step(0);
  env.step(0);
  Rng rng(2);
  Episode e = plan_episode(env, *cost_prior(1), {.simulations = 8, .gumbel_scale = 1},
                           {.centres = 2, .candidates = 50}, rng);
  EXPECT_LT(e.best, env.original());
  EXPECT_GT(e.judgements, e.samples.size());
  EXPECT_EQ(e.simulations, 8 * e.samples.size());
  EXPECT_FALSE(e.samples.front().worths.match.empty());
  Environment other(layers(2), shipped_rules(), roofline(), {});
  other.step(0);
  other.step(0);
  std::vector<rewrite::Move> moves = other.engine().moves();
  moves.insert(moves.end(), e.moves.begin(), e.moves.end());
  other.reset(moves);
  EXPECT_NEAR(other.cost(), e.best, 1e-9 * e.best);
}

TEST(Expert, WithoutSimulationsItFollowsThePolicy) {
  Environment env(layers(2), shipped_rules(), roofline(), {});
  Rng rng(2);
  Episode e = plan_episode(env, *cost_prior(), {.simulations = 0}, rng);
  env.reset();
  while (true) {
    size_t best = most_probable(cost_prior()->judge(env.observation()).log_probs);
    if (env.step(best).done()) break;
  }
  EXPECT_NEAR(e.best, env.best(), 1e-9 * e.best);
}

TEST(Expert, LabelsAreSamples) {
  auto labels = window_labels(layers(1), shipped_rules(), roofline(), {}, {.states = 2});
  auto samples = to_samples(labels);
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[1].worths.worth, labels[1].worths.worth);
  EXPECT_EQ(samples[1].observation.match, labels[1].observation.match);
  EXPECT_TRUE(samples[1].policy.empty() && !samples[1].value);
}

}  // namespace
}  // namespace regraft::rl

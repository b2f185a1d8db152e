#include "rl/environment/environment.h"

#include <cmath>
#include <numeric>

#include "rl/environment/policy.h"
#include "tests/rl/graphs.h"

namespace regraft::rl {
namespace {

Environment make(EnvironmentOptions options = {}, int count = 3) {
  return Environment(layers(count), shipped_rules(), roofline(), std::move(options));
}

TEST(Environment, EveryActionAppliesAndCostsWhatItSays) {
  Environment env = make();
  Rng rng(3);
  for (int episode = 0; episode < 5; ++episode) {
    env.reset();
    for (int k = 0; k < 20 && env.stop() > 0; ++k) {
      size_t action = rng.below(env.stop());
      double expected = env.cost() + env.match(action).cost_change, before = env.cost();
      StepResult r = env.step(action);
      EXPECT_NEAR(env.cost(), expected, 1e-9 * expected);
      EXPECT_NEAR(r.reward, 100 * (before - env.cost()) / env.original(), 1e-9);
      EXPECT_LE(env.cost(), env.options().ceiling * env.original());
      if (r.done()) break;
    }
  }
}

TEST(Environment, MasksAreExact) {
  Environment env = make({.ceiling = 1e9});
  Rng rng(5);
  for (int k = 0; k < 12 && env.stop() > 0; ++k) {
    Masks masks = env.masks();
    EXPECT_EQ(masks.rules.back(), 1);
    size_t all = 0;
    for (size_t r = 0; r < masks.locations.size(); ++r) {
      auto n = masks.locations[r];
      EXPECT_EQ(masks.rules[r], n > 0);
      for (int32_t l = 0; l < n; ++l) {
        auto index = env.index({static_cast<int32_t>(r), l});
        ASSERT_TRUE(index.has_value());
        EXPECT_EQ(*index, all++);
        EXPECT_EQ(env.action(*index), (Action{static_cast<int32_t>(r), l}));
        if (l > 0) {
          EXPECT_GE(env.match(*index).cost_change, env.match(*index - 1).cost_change);
        }
      }
      EXPECT_FALSE(env.index({static_cast<int32_t>(r), n}).has_value());
    }
    EXPECT_EQ(all, env.engine().matches().size());
    env.step(rng.below(env.stop()));
  }
}

TEST(Environment, LocationsBeyondTheLimitAreCounted) {
  Environment all = make({.ceiling = 1e9}), few = make({.max_locations = 2, .ceiling = 1e9});
  Masks masks = few.masks();
  EXPECT_LE(*std::max_element(masks.locations.begin(), masks.locations.end()), 2);
  EXPECT_GT(few.overflow(), 0U);
  EXPECT_EQ(few.stop() + few.overflow(), all.stop());
  EXPECT_EQ(all.overflow(), 0U);
}

TEST(Environment, StoppingTerminatesAndTheLimitTruncates) {
  Environment env = make({.max_steps = 3});
  StepResult r = env.step(env.stop());
  EXPECT_TRUE(r.terminated && !r.truncated);
  EXPECT_EQ(r.reward, 0);
  env.reset();
  EXPECT_FALSE(env.step(0).done());
  EXPECT_FALSE(env.step(0).done());
  r = env.step(0);
  EXPECT_TRUE(r.truncated && !r.terminated);
}

TEST(Environment, AGraphInWhichNothingRunsCanOnlyStop) {
  Graph g;
  g.set_outputs({input(g, {Poly(4)})});
  Environment env(g, shipped_rules(), roofline(), {});
  EXPECT_EQ(env.stop(), 0U);
  StepResult r = env.step(env.stop());
  EXPECT_TRUE(r.terminated);
  EXPECT_EQ(r.reward, 0);
  EXPECT_EQ(env.observation().nodes, 0);
}

TEST(Environment, ResetGoesBackToTheSameState) {
  Environment env = make({.ceiling = 1e9});
  Observation first = env.reset();
  auto moves = [&] {
    env.step(1);
    env.step(0);
    return env.engine().moves();
  }();
  double cost = env.cost();
  Observation middle = env.observation();
  Observation again = env.reset();
  EXPECT_EQ(first.node, again.node);
  EXPECT_EQ(first.match, again.match);
  EXPECT_EQ(first.inside, again.inside);
  Observation replayed = env.reset(moves);
  EXPECT_EQ(env.cost(), cost);
  EXPECT_EQ(middle.node, replayed.node);
  EXPECT_EQ(middle.match, replayed.match);
  EXPECT_EQ(env.steps(), 0);
  // From where another second move led.
  env.reset({moves[0]});
  env.step(2);
  Observation shared = env.reset(moves);
  EXPECT_EQ(env.engine().depth(), moves.size());
  EXPECT_EQ(env.cost(), cost);
  EXPECT_EQ(middle.node, shared.node);
  EXPECT_EQ(middle.match, shared.match);
  EXPECT_EQ(middle.inside, shared.inside);
}

/// Sums over one episode of the same random actions.
double total(Reward reward, double* change) {
  EnvironmentOptions options;
  options.reward = reward;
  options.measure = [](const Graph& g) { return static_cast<double>(g.node_count()); };
  options.memory = options.measure;
  Environment env = make(options);
  Rng rng(11);
  double sum = 0;
  for (StepResult r; !r.done();) {
    r = env.step(env.steps() < 15 ? rng.below(env.stop()) : env.stop());
    sum += r.reward;
  }
  *change = 100 * (env.original() - env.cost()) / env.original();
  return sum;
}

TEST(Environment, RewardsAddUp) {
  double change = 0;
  double sum = total(Reward::Change, &change);
  EXPECT_NEAR(sum, change, 1e-9);
  sum = total(Reward::Final, &change);
  EXPECT_NEAR(sum, change, 1e-9);
  double best = total(Reward::Best, &change);
  EXPECT_GE(best, std::max(0.0, change) - 1e-9);
}

TEST(Environment, APotentialChangesNoSum) {
  EnvironmentOptions options;
  options.reward = Reward::Shaped;
  Environment env = make(options);
  double potential = -env.step(env.stop()).reward;  // what was at hand at the start
  EXPECT_GT(potential, 0);
  double change = 0, sum = total(Reward::Shaped, &change);
  EXPECT_NEAR(sum, change - potential, 1e-6);
}

TEST(Environment, MeasuredAndMixedRewardsAreOfWhatTheyAreGiven) {
  double change = 0, measured = total(Reward::Measured, &change);
  double mixed = total(Reward::Mixed, &change);
  EXPECT_NEAR(mixed, (change + measured) / 2, 1e-6);
  EXPECT_NE(measured, 0);
}

TEST(Environment, NamesOfRewards) {
  for (const auto& name : reward_names()) EXPECT_EQ(to_string(*reward_named(name)), name);
  EXPECT_FALSE(reward_named("none").has_value());
}

TEST(Observation, IsWhole) {
  Environment env = make();
  const Observation& o = env.observation();
  EXPECT_EQ(o.nodes, env.engine().calls());
  EXPECT_EQ(o.node.size(), static_cast<size_t>(o.nodes) * kNodeFeatures);
  EXPECT_EQ(o.edge.size(), o.edges() * kEdgeFeatures);
  EXPECT_EQ(o.matches(), env.stop());
  EXPECT_EQ(o.match.size(), o.matches() * kMatchFeatures);
  EXPECT_EQ(o.inside_first.size(), o.matches() + 1);
  EXPECT_EQ(o.inside_first.back(), static_cast<int32_t>(o.inside.size()));
  EXPECT_EQ(o.near_first.back(), static_cast<int32_t>(o.near.size()));
  for (size_t k = 0; k < o.edges(); ++k) EXPECT_LT(o.source[k], o.target[k]);
  for (float x : o.node) EXPECT_TRUE(std::isfinite(x) && std::abs(x) < 10);
  for (float x : o.match) EXPECT_TRUE(std::isfinite(x) && std::abs(x) < 20);
}

TEST(Observation, RulesThatDifferLookDifferent) {
  RuleTable t = describe(shipped_rules());
  ASSERT_EQ(t.rows.size(), shipped_rules().rules().size());
  std::set<std::vector<std::pair<int32_t, float>>> rows;
  for (const auto& row : t.rows) {
    std::vector<std::pair<int32_t, float>> numbers;
    for (const RuleTable::Entry& e : row) numbers.emplace_back(e.column, e.number);
    ASSERT_LT(numbers.back().first, static_cast<int32_t>(t.columns));
    rows.insert(numbers);
  }
  EXPECT_GT(rows.size(), t.rows.size() / 3);
}

TEST(Policy, TheCostPriorPrefersWhatSavesMost) {
  Environment env = make();
  Judgement j = cost_prior()->judge(env.observation());
  ASSERT_EQ(j.log_probs.size(), env.stop() + 1);
  double sum = 0;
  for (float l : j.log_probs) sum += std::exp(l);
  EXPECT_NEAR(sum, 1, 1e-5);
  size_t best = most_probable(j.log_probs);
  for (size_t k = 0; k < env.stop(); ++k)
    EXPECT_LE(env.match(best).cost_change, env.match(k).cost_change);
  Judgement u = uniform_policy()->judge(env.observation());
  for (float l : u.log_probs) EXPECT_NEAR(l, -std::log(env.stop() + 1.0), 1e-5);
}

TEST(Policy, SamplesFollowTheProbabilities) {
  std::vector<float> log_probs{std::log(0.2F), std::log(0.5F), std::log(0.3F)};
  Rng rng(1);
  std::vector<int> counts(3);
  for (int k = 0; k < 20000; ++k) ++counts[sample(log_probs, rng)];
  EXPECT_NEAR(counts[0] / 20000.0, 0.2, 0.02);
  EXPECT_NEAR(counts[1] / 20000.0, 0.5, 0.02);
}

}  // namespace
}  // namespace regraft::rl

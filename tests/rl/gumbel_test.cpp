#include "rl/planner/gumbel.h"

#include <atomic>
#include <cmath>
#include <numeric>

#include "rl/environment/policy.h"
#include "tests/rl/barrier.h"

namespace regraft::rl {
namespace {

const EnvironmentOptions kHigh{.ceiling = 2};

/// All actions alike; the value is what `value` says.
class Uniform final : public Policy {
 public:
  explicit Uniform(std::function<double(const Observation&)> value) : value_(std::move(value)) {}
  Judgement judge(const Observation& o) const override {
    ++asked;
    Judgement j = uniform_policy()->judge(o);
    j.value = value_(o);
    return j;
  }
  std::string description() const override { return "made up"; }
  mutable std::atomic<int> asked = 0;

 private:
  std::function<double(const Observation&)> value_;
};

TEST(Planner, CrossesABarrier) {
  Environment env(valleys(2), barrier_rules(), roofline(), kHigh);
  for (size_t k = 0; k < env.stop(); ++k) EXPECT_GT(env.match(k).cost_change, 0);
  Rng rng(1);
  auto policy = uniform_policy();
  while (true) {
    Plan p = plan(env, *policy, {.simulations = 64}, rng);
    if (env.step(p.action).done()) break;
  }
  EXPECT_EQ(count_of(env.engine().to_graph(), "transpose"), 0U);
  EXPECT_EQ(env.best(), env.cost());
}

TEST(Planner, TheWayToTheCheapestGraphLeadsThere) {
  Environment env(valleys(1), barrier_rules(), roofline(), kHigh);
  Rng rng(1);
  Plan p = plan(env, *uniform_policy(), {.simulations = 64}, rng);
  EXPECT_LT(p.best, env.original());
  env.reset(p.moves);
  EXPECT_EQ(env.cost(), p.best);
  EXPECT_EQ(count_of(env.engine().to_graph(), "transpose"), 0U);
}

TEST(Planner, LeavesTheEnvironmentAsItWas) {
  Environment env(layers(3), shipped_rules(), roofline(), {.max_locations = 3});
  env.step(2);
  auto look = [&] {
    Observer fresh(env.engine(), env.original());
    return fresh.observe(env.standing(), env.matches());
  };
  auto moves = env.engine().depth();
  auto matches = env.matches();
  auto identity = env.engine().identity();
  size_t overflow = env.overflow();
  double cost = env.cost();
  Observation before = look();
  Rng rng(4);
  for (int simulations : {1, 7, 100}) {
    Plan p = plan(env, *cost_prior(1), {.simulations = simulations, .gumbel_scale = 1}, rng);
    EXPECT_EQ(p.simulations, static_cast<uint64_t>(simulations));
    EXPECT_GT(p.candidates, 0U);
    EXPECT_EQ(env.engine().depth(), moves);
    EXPECT_EQ(env.matches(), matches);
    EXPECT_EQ(env.allowed(env.best()), matches);
    EXPECT_EQ(env.overflow(), overflow);
    EXPECT_EQ(env.cost(), cost);
    EXPECT_EQ(env.steps(), 1);
    EXPECT_EQ(env.engine().identity(), identity);
    Observation after = look();
    EXPECT_EQ(after.node, before.node);
    EXPECT_EQ(after.match, before.match);
    EXPECT_EQ(after.near, before.near);
  }
}

TEST(Planner, HalvesTheActions) {
  EXPECT_EQ(halving_schedule(4, 16),
            (std::vector<int32_t>{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}));
  EXPECT_EQ(halving_schedule(1, 3), (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(halving_schedule(8, 5), (std::vector<int32_t>{0, 0, 0, 0, 0}));
  EXPECT_EQ(halving_schedule(5, 0).size(), 0U);
  Environment env(layers(3), shipped_rules(), roofline(), {});
  Rng rng(1);
  Plan p = plan(env, *cost_prior(1), {.simulations = 16, .considered = 4}, rng);
  std::sort(p.visits.rbegin(), p.visits.rend());
  ASSERT_GT(p.visits.size(), 4U);
  EXPECT_EQ(std::vector<int32_t>(p.visits.begin(), p.visits.begin() + 5),
            (std::vector<int32_t>{6, 6, 2, 2, 0}));
}

/// One move deep, what an action is worth is what it saves.
TEST(Planner, TheImprovedPolicyPrefersWhatSavesMore) {
  Environment env(layers(1), shipped_rules(), roofline(), {});
  auto actions = static_cast<int>(env.stop()) + 1;
  Rng rng(1);
  Plan p = plan(env, *uniform_policy(),
                {.simulations = 2 * actions, .considered = actions, .depth = 1}, rng);
  EXPECT_NEAR(std::accumulate(p.improved.begin(), p.improved.end(), 0.0), 1, 1e-5);
  double most = 0;
  for (size_t a = 0; a < env.stop(); ++a) {
    most = std::max(most, -env.match(a).cost_change);
    EXPECT_EQ(p.improved[a] > p.improved.back() * (1 + 1e-4F), env.match(a).cost_change < -1e-9);
    for (size_t b = 0; b < env.stop(); ++b) {
      if (env.match(a).cost_change > env.match(b).cost_change - 1e-6) continue;
      EXPECT_GT(p.improved[a], p.improved[b]);
    }
  }
  EXPECT_NEAR(-env.match(p.action).cost_change, most, 1e-9);
  EXPECT_LE(p.value, 100 * most / env.original() + 1e-9);
  EXPECT_GT(p.value, 0);
}

TEST(Planner, BelievesThePolicyBeyondItsDepth) {
  Environment env(valleys(1), barrier_rules(), roofline(), kHigh);
  PlannerOptions shallow{.simulations = 8, .depth = 1};
  Rng rng(1);
  EXPECT_EQ(plan(env, *uniform_policy(), shallow, rng).action, env.stop());
  Uniform hopeful([](const Observation& o) { return 100 * (o.global[0] - 0.5); });
  Plan p = plan(env, hopeful, shallow, rng);
  EXPECT_NE(p.action, env.stop());
  Uniform gloomy([](const Observation&) { return -50.0; });  // worse than to stop there is not
  Plan q = plan(env, gloomy, shallow, rng), zero = plan(env, *uniform_policy(), shallow, rng);
  EXPECT_EQ(q.improved, zero.improved);
}

TEST(Planner, AsksOnceForEachGraph) {
  Graph g;
  Value x = input(g, {Poly(16), Poly(16)});
  auto twice = [&](Value v) { return call(g, "relu", {call(g, "relu", {v})}); };
  g.set_outputs({twice(call(g, "tanh", {twice(x)}))});
  Environment env(g, barrier_rules(), roofline(), {});
  ASSERT_EQ(env.stop(), 2U);
  Uniform policy([](const Observation&) { return 0.0; });
  Rng rng(1);
  Plan p = plan(env, policy, {.simulations = 60}, rng);
  EXPECT_EQ(p.judgements, 4U);  // none, one, the other, both
  EXPECT_EQ(policy.asked, 4);
  EXPECT_EQ(p.moves.size(), 2U);
}

TEST(Planner, GivesTheSamePlanForTheSameSeed) {
  Environment env(layers(2), shipped_rules(), roofline(), {});
  auto with_seed = [&](uint64_t seed) {
    Rng rng(seed);
    return plan(env, *cost_prior(1), {.simulations = 24, .gumbel_scale = 1}, rng);
  };
  Plan a = with_seed(5), b = with_seed(5);
  EXPECT_EQ(a.action, b.action);
  EXPECT_EQ(a.improved, b.improved);
  EXPECT_EQ(a.visits, b.visits);
  EXPECT_EQ(a.candidates, b.candidates);
  EXPECT_EQ(a.best, b.best);
  EXPECT_NE(a.visits, with_seed(6).visits);
}

TEST(Planner, HasNothingToPlanWhereNothingApplies) {
  Graph g;
  g.set_outputs({call(g, "tanh", {input(g, {Poly(4), Poly(4)})})});
  Environment env(g, barrier_rules(), roofline(), {});
  Rng rng(1);
  Plan p = plan(env, *uniform_policy(), {}, rng);
  EXPECT_EQ(p.action, env.stop());
  EXPECT_EQ(p.improved, std::vector<float>{1});
  EXPECT_EQ(p.value, 0);
  EXPECT_EQ(p.best, env.cost());
}

TEST(Planner, NoiseIsOfAGumbelDistribution) {
  Rng rng(3);
  double sum = 0, squares = 0;
  constexpr int kDraws = 50000;
  for (int k = 0; k < kDraws; ++k) {
    double x = gumbel(rng);
    sum += x;
    squares += x * x;
  }
  double mean = sum / kDraws;
  EXPECT_NEAR(mean, 0.5772, 0.02);
  EXPECT_NEAR(squares / kDraws - mean * mean, 1.6449, 0.05);
}

}  // namespace
}  // namespace regraft::rl

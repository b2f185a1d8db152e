#include "rl/planner/planner_agent.h"

#include <cmath>

#include "rl/network/network_file.h"
#include "tests/rl/barrier.h"

namespace regraft::rl {
namespace {

const NetworkOptions kSmall{.width = 8, .hidden = 8};

const RuleTable& table() {
  static const RuleTable t = describe(shipped_rules());
  return t;
}

std::vector<ExpertSample> some_samples() {
  Environment env(layers(2), shipped_rules(), roofline(), {});
  Rng rng(2);
  auto samples = plan_episode(env, *cost_prior(1), {.simulations = 8, .gumbel_scale = 1},
                              {.centres = 2, .candidates = 50}, rng)
                     .samples;
  auto more = to_samples(window_labels(layers(2), shipped_rules(), roofline(), {}, {.states = 5}));
  samples.insert(samples.end(), more.begin(), more.end());
  return samples;
}

double huber(double x) { return std::abs(x) < 1 ? x * x / 2 : std::abs(x) - 0.5; }

TEST(ExpertUpdate, LossesAreMeansOverTheSamplesThatSaySomething) {
  auto samples = some_samples();
  Network network(kSmall, table().columns, 3);
  auto policy = network_policy(network, table(), "test");
  double kl = 0, value = 0, worth = 0, agree = 0, plans = 0, windows = 0;
  for (const ExpertSample& s : samples) {
    Judgement j = policy->judge(s.observation);
    for (size_t k = 0; k < s.policy.size(); ++k)
      if (s.policy[k] > 0) kl += s.policy[k] * (std::log(s.policy[k]) - j.log_probs[k]);
    if (!s.policy.empty()) {
      ++plans;
      agree += most_probable(s.policy) == most_probable(j.log_probs);
    }
    if (s.value) value += huber(j.value - *s.value);
    double sum = 0;
    for (size_t k = 0; k < s.worths.match.size(); ++k)
      sum += huber(j.worth[static_cast<size_t>(s.worths.match[k])] - s.worths.worth[k]);
    if (s.worths.match.empty()) continue;
    worth += sum / static_cast<double>(s.worths.match.size());
    ++windows;
  }
  ASSERT_GT(windows, plans / 2);
  ASSERT_GT(samples.size(), plans);
  nn::Adam<float> adam(network.parameters());
  Rng rng(1);
  ExpertReport r = expert_update(network, table(), adam, samples,
                                 {.epochs = 1, .minibatch = 1000, .chunk = 3}, rng, 1);
  EXPECT_EQ(r.updates, 1);
  EXPECT_NEAR(r.policy_loss, kl / plans, 1e-3 * (1 + kl / plans));
  EXPECT_NEAR(r.agreement, agree / plans, 1e-9);
  EXPECT_NEAR(r.value_loss, value / plans, 1e-3 * (1 + value / plans));
  EXPECT_NEAR(r.worth_loss, worth / windows, 1e-3 * (1 + worth / windows));
}

TEST(ExpertUpdate, LearnsTheSameOnAnyNumberOfThreads) {
  auto samples = some_samples();
  std::vector<Network> networks;
  for (int threads : {1, 2}) {
    Network& network = networks.emplace_back(kSmall, table().columns, 3);
    nn::Adam<float> adam(network.parameters());
    Rng rng(1);
    ExpertUpdateOptions options{
        .epochs = 2, .minibatch = 8, .chunk = 3, .max_norm = 10, .learning_rate = 1e-2};
    ExpertReport first = expert_update(network, table(), adam, samples, options, rng, threads);
    options.epochs = 60;
    expert_update(network, table(), adam, samples, options, rng, threads);
    options.epochs = 1;
    ExpertReport last = expert_update(network, table(), adam, samples, options, rng, threads);
    EXPECT_LT(last.policy_loss, first.policy_loss / 2);
    EXPECT_LT(last.value_loss, first.value_loss / 2);
    EXPECT_LT(last.worth_loss, first.worth_loss / 2);
    EXPECT_GT(last.explained_variance, 0.8);
  }
  EXPECT_EQ(network_file(networks[0], "test"), network_file(networks[1], "test"));
}

PlannerAgentOptions small_agent(int threads = 1) {
  PlannerAgentOptions o;
  o.network = kSmall;
  o.planner.simulations = 16;
  o.environment.ceiling = 2;
  o.update.minibatch = 16;
  o.episodes = 4;
  o.imitation = 1;
  o.demonstration_budget = 2000;
  o.labels = {.states = 4, .centres = 2, .radius = 3, .candidates = 100};
  o.threads = threads;
  return o;
}

TEST(PlannerAgent, GoesOnAsIfThereHadBeenNoBreak) {
  std::vector<Graph> graphs{layers(1), layers(2)};
  auto agent = [&](int threads) {
    return PlannerAgent(graphs, shipped_rules(), roofline(), small_agent(threads), 7);
  };
  PlannerAgent whole = agent(1), first = agent(2), second = agent(1);
  std::vector<LogRow> rows;
  for (int k = 0; k < 3; ++k) rows.push_back(whole.iterate(Stop()));
  for (int k = 0; k < 2; ++k) EXPECT_EQ(first.iterate(Stop()), rows[static_cast<size_t>(k)]);
  ASSERT_TRUE(second.load(first.save()).ok());
  EXPECT_EQ(second.iterations(), 2);
  EXPECT_EQ(second.best(1), first.best(1));
  EXPECT_EQ(second.iterate(Stop()), rows[2]);
  EXPECT_EQ(second.save(), whole.save());
  EXPECT_FALSE(second.load(network_file(whole.network(), "ppo")).ok());
  Stop stop;
  stop.request();
  Checkpoint before = whole.save();
  EXPECT_TRUE(whole.iterate(stop).empty());
  EXPECT_EQ(whole.save(), before);
}

/// Greedily, in a graph that it has not seen.
double reached(const Policy& policy) {
  Environment env(valleys(4), barrier_rules(), roofline(), small_agent().environment);
  while (!env.step(most_probable(policy.judge(env.observation()).log_probs)).done()) {
  }
  return env.best() / env.original();
}

TEST(PlannerAgent, LearnsToCrossBarriers) {
  std::vector<Graph> graphs{valleys(1), valleys(2)};
  PlannerAgent agent(graphs, barrier_rules(), roofline(), small_agent(2), 1);
  EXPECT_EQ(reached(*cost_prior()), 1);
  EXPECT_EQ(reached(*agent.policy()), 1);
  for (int k = 0; k < 30; ++k) agent.iterate(Stop());
  EXPECT_LT(reached(*agent.policy()), 0.8);
}

TEST(Starts, KeepTheCheapestOfEachCost) {
  Environment env(layers(2), shipped_rules(), roofline(), {});
  Starts starts(2, 1, 0);
  EXPECT_EQ(starts.best(1), HUGE_VAL);
  Rng rng(1);
  EXPECT_FALSE(starts.draw(env, 1, rng).empty());  // random moves
  env.reset();
  env.step(0);
  std::vector<rewrite::Move> moves = env.engine().moves();
  starts.keep(1, 5, {});
  starts.keep(1, 3, moves);
  starts.keep(1, 3, {});
  for (int k = 0; k < 30; ++k) starts.keep(1, 10 + k, {});
  EXPECT_EQ(starts.best(1), 3);
  EXPECT_EQ(starts.best(0), HUGE_VAL);
  Checkpoint file;
  starts.save(file);
  EXPECT_EQ(file.lists["kept.1"].size(), 16U);
  Starts again(2, 1, 0);
  ASSERT_TRUE(again.load(file).ok());
  Checkpoint same;
  again.save(same);
  EXPECT_EQ(file, same);
  std::vector<rewrite::Move> drawn;
  for (int k = 0; k < 200 && drawn.empty(); ++k) drawn = again.draw(env, 1, rng);
  env.reset(drawn);
  EXPECT_EQ(env.engine().depth(), 1U);
  EXPECT_TRUE(Starts(1, 0, 0).draw(env, 0, rng).empty());
}

}  // namespace
}  // namespace regraft::rl

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rl/world/world_model_agent.h"
#include "tests/rl/graphs.h"

namespace regraft::rl {
namespace {

DynamicsOptions small_dynamics() {
  return {.latent = 4, .hidden = 16, .components = 2, .capacity = 6, .action = 4, .heads = 16};
}

/// An episode of made-up vectors and offers.
Track made_up(size_t steps, uint64_t seed) {
  Rng rng(seed);
  Track t;
  t.z.resize(static_cast<int64_t>(steps) + 1, 4);
  for (int64_t k = 0; k < t.z.size(); ++k) t.z.data()[k] = static_cast<float>(rng.unit() - 0.5);
  for (size_t k = 0; k <= steps; ++k) {
    Offers offers(6, small_dynamics().locations);
    for (auto& n : offers.counts) n = static_cast<int16_t>(rng.below(4));
    for (auto& change : offers.changes) change = static_cast<float>(rng.unit() - 0.5);
    t.offers.push_back(offers);
    t.saved.push_back(static_cast<float>(30 * rng.unit()));
    if (k == steps) break;
    t.choices.push_back({static_cast<int32_t>(rng.below(6)), static_cast<int32_t>(rng.below(3))});
  }
  t.terminated = seed % 2 == 0;
  return t;
}

void expect_near(const DynamicsLosses& a, const DynamicsLosses& b) {
  EXPECT_NEAR(a.latent, b.latent, 1e-5);
  EXPECT_NEAR(a.saved, b.saved, 1e-6);
  EXPECT_NEAR(a.end, b.end, 1e-6);
  EXPECT_NEAR(a.mask, b.mask, 1e-6);
  EXPECT_NEAR(a.count, b.count, 1e-6);
  EXPECT_NEAR(a.change, b.change, 1e-6);
}

TEST(Dynamics, PaddingChangesNothing) {
  Dynamics m(small_dynamics(), 3);
  Track a = made_up(3, 1), b = made_up(7, 2);
  std::vector<const Track*> both{&a, &b};
  nn::Gradients<float> tight(m.parameters()), wide(m.parameters());
  expect_near(m.loss(both, 7, 5, 10, 9, &tight), m.loss(both, 20, 5, 10, 9, &wide));
  EXPECT_GT(tight.norm(), 1e-3);
  for (int k = 0; k < tight.size(); ++k)
    EXPECT_LT((tight.value(k) - wide.value(k)).cwiseAbs().maxCoeff(), 1e-5) << k;
}

/// Two episodes together lose what each loses, by its steps.
TEST(Dynamics, LossIsAMeanOverRealSteps) {
  DynamicsOptions o = small_dynamics();
  o.noise = 0;
  Dynamics m(o, 3);
  Track a = made_up(3, 1), b = made_up(7, 2);
  std::vector<const Track*> both{&a, &b}, one{&a}, other{&b};
  DynamicsLosses x = m.loss(one, 3, 5, 3, 9, nullptr), y = m.loss(other, 7, 5, 7, 9, nullptr);
  auto mix = [](double p, double q) { return 0.3 * p + 0.7 * q; };
  expect_near(m.loss(both, 7, 5, 10, 9, nullptr),
              {mix(x.latent, y.latent), mix(x.saved, y.saved), mix(x.end, y.end),
               mix(x.mask, y.mask), mix(x.count, y.count), mix(x.change, y.change)});
}

/// What is remembered along an episode is what steps with the same vectors lead to.
TEST(Dynamics, RecallsWhatItStepped) {
  Dynamics m(small_dynamics(), 5);
  Track track = made_up(6, 4);
  Memory all = m.recall(track), now = m.start(1);
  Rng rng(1);
  for (size_t t = 0; t < track.steps(); ++t) {
    auto at = static_cast<int64_t>(t);
    EXPECT_LT((all.h.row(at) - now.h.row(0)).cwiseAbs().maxCoeff(), 1e-6);
    m.step(track.z.row(at), std::span(&track.choices[t], 1), now, 5, 1, std::span(&rng, 1));
    EXPECT_LT((all.c.row(at + 1) - now.c.row(0)).cwiseAbs().maxCoeff(), 1e-6);
  }
  EXPECT_GT(all.h.row(3).norm(), 0.01);
}

TEST(Controller, ChoosesOnlyWhatIsOffered) {
  Controller c({.latent = 4, .capacity = 6, .locations = 3}, 1);
  nn::Matrix<float> z = nn::Matrix<float>::Random(2, 4);
  Offers some(6, 3), none(6, 3);
  some.counts = {0, 2, 0, 9, 0, 0};
  std::vector<const Offers*> offers{&some, &none};
  nn::Gradients<float> gradients(c.parameters());
  nn::Tape<float> tape(c.parameters(), &gradients);
  auto out = c.forward(tape, z, offers);
  EXPECT_EQ(out.choices,
            (std::vector<Choice>{{1, 0}, {1, 1}, {3, 0}, {3, 1}, {3, 2}, {6, 0}, {6, 0}}));
  EXPECT_EQ(out.first_action, (std::vector<int32_t>{0, 6, 7}));
  const auto& p = tape.value(out.log_probs);
  EXPECT_NEAR(p.topRows(6).array().exp().sum(), 1, 1e-5);
  EXPECT_NEAR(p(6, 0), 0, 1e-6);
  tape.backward(tape.sum(tape.square(out.log_probs)));
  const auto& slopes = gradients.value(c.parameters().find("c.rules"));
  for (int slot : {0, 2, 4, 5}) EXPECT_EQ(slopes.row(slot).norm(), 0) << slot;
  for (int slot : {1, 3, 6}) EXPECT_GT(slopes.row(slot).norm(), 0) << slot;
}

/// Steps to and fro pay what they save and cost, and never more than the graph can save.
TEST(Dream, CirclesPayNothing) {
  Offers forth(2, 1), back(2, 1);
  forth.change({0, 0}) = -0.7F, back.change({1, 0}) = 0.7F;
  Balance b{3, 3};
  for (int k = 0; k < 5; ++k) {
    b.pay(forth, {0, 0}, 4);
    EXPECT_NEAR(b.saved, 3 + std::expm1(0.7F), 1e-5);
    b.pay(back, {1, 0}, 3);
    EXPECT_NEAR(b.saved, 3, 1e-5);
  }
  for (int k = 0; k < 50; ++k) b.pay(forth, {0, 0}, 5);
  EXPECT_GE(b.saved, 5);
  EXPECT_LE(b.saved, 6);
}

TEST(Vocabulary, OffersWhatTheEnvironmentDoes) {
  Graph g = layers(2);
  Environment env(g, shipped_rules(), roofline(), {});
  const Observation& o = env.observation();
  Vocabulary vocabulary(64);
  vocabulary.learn(o);
  Offers offers = vocabulary.offers(o, 2);
  size_t offered = 0;
  for (const Choice& c : choices(offers)) {
    if (c.slot == vocabulary.stop()) continue;
    int32_t rule = vocabulary.rules()[static_cast<size_t>(c.slot)];
    auto at = env.index({rule, c.location});
    ASSERT_TRUE(at);
    double percent = 100 * env.match(*at).cost_change / env.original();
    EXPECT_NEAR(saving(offers.change(c)), -percent, 1e-3 * (1 + std::abs(percent)));
    ++offered;
  }
  EXPECT_GT(offered, 4U);
}

WorldModelAgentOptions small_options() {
  WorldModelAgentOptions o;
  o.model.latent.size = 16;
  o.model.latent.network = {.width = 16, .hidden = 16};
  o.model.dynamics.hidden = 48;
  o.model.dynamics.components = 4;
  o.model.dynamics.heads = 48;
  o.environment.max_steps = 24;
  o.first_episodes = 64;
  o.first_updates = 200;
  o.dream.tau = 0.3;
  return o;
}

WorldModelAgentOptions tiny_options() {
  auto o = small_options();
  o.first_episodes = 6;
  o.episodes = 4;
  o.first_updates = o.updates = 4;
  o.dream_updates = 2;
  o.dreams = 32;
  return o;
}

const std::vector<Graph>& two_layers() {
  static const std::vector<Graph> graphs{layers(2)};
  return graphs;
}

/// Matches applied while one saves, the best first.
double greedy_gain(const Graph& g, const EnvironmentOptions& options) {
  Environment env(g, shipped_rules(), roofline(), options);
  while (true) {
    size_t best = env.stop();
    for (size_t k = 0; k < env.stop(); ++k)
      if (env.match(k).cost_change < (best == env.stop() ? -1e-9 : env.match(best).cost_change))
        best = k;
    if (best == env.stop() || env.step(best).done()) break;
  }
  return 100 * (1 - env.cost() / env.original());
}

TEST(WorldModelAgent, LearnsASmallEnvironment) {
  auto options = small_options();
  std::vector<double> reward_errors, ends_told;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    WorldModelAgent agent(two_layers(), shipped_rules(), roofline(), options, seed);
    LogRow row;
    for (int k = 0; k < 3; ++k) row = agent.iterate({});
    DriftReport d = agent.drift(8, options.dream.tau, 77);
    EXPECT_GT(d.depths[0].mask_f1, 0.85);
    reward_errors.push_back(d.depths[0].reward_error);
    EXPECT_LT(d.depths[0].latent_error, d.depths[0].latent_spread);
    ends_told.push_back(d.depths[0].end_accuracy);
    EXPECT_EQ(row[0].first, "real");
    EXPECT_GT(row[0].second, 0.99 * greedy_gain(two_layers()[0], options.environment));
  }
  // Medians: of one seed the error of rewards is two to four times above the others', and one end
  // in nine is not told.
  std::ranges::sort(reward_errors);
  EXPECT_LT(reward_errors[1], 1.0);
  std::ranges::sort(ends_told);
  EXPECT_GT(ends_told[0], 0.85);
  EXPECT_GT(ends_told[1], 0.9);
}

TEST(WorldModelAgent, DreamsMakeNoRealSteps) {
  WorldModelAgent agent(two_layers(), shipped_rules(), roofline(), tiny_options(), 1);
  agent.iterate({});
  uint64_t real = agent.real_steps(), measured = agent.measured_steps();
  EXPECT_GT(real, 0U);
  EXPECT_GT(agent.dream_steps(), 0U);
  EXPECT_EQ(agent.sweep({0.5, 1.5}, 2, 1, {}).size(), 2U);
  EXPECT_EQ(agent.real_steps(), real);
  EXPECT_GT(agent.measured_steps(), measured);
}

/// The best controller's episode is played again by what is given away.
TEST(WorldModelAgent, KeepsTheBestController) {
  auto options = tiny_options();
  WorldModelAgent agent(two_layers(), shipped_rules(), roofline(), options, 3);
  double most = -1;
  for (int k = 0; k < 4; ++k) {
    LogRow row = agent.iterate({});
    EXPECT_EQ(row[0].first, "real");
    most = std::max(most, row[0].second);
    Environment env(two_layers()[0], shipped_rules(), roofline(), options.environment);
    Rng rng(1);
    EXPECT_EQ(most_saved(run_episode(env, most_wanted(*agent.policy()), rng).rewards), most);
  }
}

TEST(WorldModelAgent, GoesOnAsIfThereHadBeenNoBreak) {
  WorldModelAgent whole(two_layers(), shipped_rules(), roofline(), tiny_options(), 5);
  whole.iterate({});
  Checkpoint between = whole.save();
  LogRow expected = whole.iterate({});
  WorldModelAgent resumed(two_layers(), shipped_rules(), roofline(), tiny_options(), 6);
  auto status = resumed.load(between);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(resumed.iterate({}), expected);
  EXPECT_EQ(resumed.save(), whole.save());
}

TEST(WorldModelAgent, SameForAnyNumberOfThreads) {
  auto options = tiny_options();
  WorldModelAgent one(two_layers(), shipped_rules(), roofline(), options, 5);
  options.threads = 3;
  WorldModelAgent three(two_layers(), shipped_rules(), roofline(), options, 5);
  EXPECT_EQ(one.iterate({}), three.iterate({}));
  EXPECT_EQ(one.save(), three.save());
}

TEST(WorldModelAgent, ChangesNothingWhenStopped) {
  WorldModelAgent agent(two_layers(), shipped_rules(), roofline(), tiny_options(), 5);
  Checkpoint before = agent.save();
  Stop stop;
  stop.request();
  EXPECT_TRUE(agent.iterate(stop).empty());
  EXPECT_EQ(agent.save(), before);
}

TEST(WorldModelAgent, ItsPolicyIsReadFromAFile) {
  WorldModelAgent agent(two_layers(), shipped_rules(), roofline(), tiny_options(), 5);
  agent.iterate({});
  auto read = read_controller(agent.policy_file(), shipped_rules());
  ASSERT_TRUE(read) << read.error().message;
  Environment env(two_layers()[0], shipped_rules(), roofline(), {});
  for (int step = 0; step < 4 && env.stop() > 0; ++step) {
    auto log_probs = (*read)->judge(env.observation()).log_probs;
    EXPECT_EQ(log_probs, agent.policy()->judge(env.observation()).log_probs);
    double sum = 0;
    for (float p : log_probs) sum += std::exp(p);
    EXPECT_NEAR(sum, 1, 1e-4);
    env.step(most_probable({log_probs.begin(), log_probs.end() - 1}));
  }
}

TEST(WorldModelAgent, RefusesOtherFiles) {
  WorldModelAgent agent(two_layers(), shipped_rules(), roofline(), tiny_options(), 5);
  Checkpoint file = agent.save();
  file.lists["replay"] = {"0 1:99"};
  EXPECT_FALSE(agent.load(file));
  file = agent.save();
  file.counters["training"] = uint64_t{1};
  EXPECT_FALSE(agent.load(file));
  file = agent.save();
  file.counters["m.hidden"] = int64_t{7};
  EXPECT_FALSE(agent.load(file));
  file = agent.policy_file();
  EXPECT_FALSE(agent.load(file));
  file.counters["c.hidden"] = int64_t{7};
  EXPECT_FALSE(read_controller(file, shipped_rules()));
}

/// A file of a few kilobytes does not make networks of gigabytes.
TEST(WorldModelAgent, RefusesSizesThatTheMatricesDoNotHave) {
  WorldModelAgent agent(two_layers(), shipped_rules(), roofline(), tiny_options(), 5);
  for (const char* name : {"v.size", "v.hidden", "v.capacity", "v.width", "v.network", "v.rounds",
                           "m.locations", "c.hidden"}) {
    for (int64_t size : {int64_t{-1}, int64_t{4096}, int64_t{1} << 40}) {
      Checkpoint file = agent.policy_file();
      file.counters[name] = size;
      EXPECT_FALSE(read_controller(file, shipped_rules())) << name << " = " << size;
    }
  }
  Checkpoint file = agent.policy_file();
  for (const char* unused : {"m.hidden", "m.heads", "m.action", "m.components"})
    file.counters[unused] = int64_t{4096};
  EXPECT_TRUE(read_controller(file, shipped_rules())) << "M is not in the file";
}

}  // namespace
}  // namespace regraft::rl

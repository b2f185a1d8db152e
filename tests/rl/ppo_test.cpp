#include "rl/ppo/ppo.h"

#include <gtest/gtest.h>

#include <cmath>

#include "rl/environment/policy.h"

namespace regraft::rl {
namespace {

using nn::Matrix;
using nn::Tape;
using nn::Var;

/// A table of logits and values by state.
struct Table {
  nn::Parameters<float> parameters;
  int64_t states, actions;
  Table(int64_t state_count, int64_t action_count) : states(state_count), actions(action_count) {
    parameters.add("logits", states * actions, 1);
    parameters.add("values", states, 1);
  }
  /// Of the actions in `allowed` of each state asked for.
  Evaluation evaluate(Tape<float>& tape, std::span<const int32_t> asked,
                      const std::vector<std::vector<int32_t>>& allowed) const {
    std::vector<int32_t> rows, owner, first{0};
    for (size_t k = 0; k < asked.size(); ++k) {
      for (int32_t a : allowed[static_cast<size_t>(asked[k])]) {
        rows.push_back(static_cast<int32_t>(asked[k] * actions + a));
        owner.push_back(static_cast<int32_t>(k));
      }
      first.push_back(static_cast<int32_t>(rows.size()));
    }
    Var logits = tape.gather_rows(tape.parameter(0), rows);
    auto n = static_cast<int64_t>(asked.size());
    return {tape.segment_log_softmax(logits, owner, n), first,
            tape.gather_rows(tape.parameter(1), std::vector<int32_t>(asked.begin(), asked.end()))};
  }
};

struct Learner {
  Table table;
  std::vector<std::vector<int32_t>> allowed;
  nn::Adam<float> adam;
  Rng rng{7};
  PpoOptions options{.learning_rate = 0.02};
  std::vector<Sample> samples;
  Learner(int64_t states, int64_t actions)
      : table(states, actions), allowed(static_cast<size_t>(states)), adam(table.parameters) {
    for (auto& all : allowed)
      for (int32_t a = 0; a < actions; ++a) all.push_back(a);
  }
  std::vector<float> log_probs(int32_t state) const {
    Tape<float> tape(table.parameters, nullptr);
    const auto& m = tape.value(table.evaluate(tape, std::span(&state, 1), allowed).log_probs);
    return {m.data(), m.data() + m.size()};
  }
  float value(int32_t state) const { return table.parameters.value(1)(state, 0); }
  PpoReport update(int threads = 1) {
    return ppo_update(
        table.parameters, adam, samples,
        [this](Tape<float>& tape, std::span<const int32_t> chosen) {
          std::vector<int32_t> states;
          for (int32_t k : chosen) states.push_back(samples[static_cast<size_t>(k)].state);
          return table.evaluate(tape, states, allowed);
        },
        options, rng, threads);
  }
  int32_t act(int32_t state) {
    auto p = log_probs(state);
    auto a = static_cast<int32_t>(sample(p, rng));
    samples.push_back({state, a, p[static_cast<size_t>(a)], 0, 0});
    return a;
  }
};

/// Arm 2 of 4 pays most.
void play_bandit(Learner& learner, int count) {
  learner.samples.clear();
  const float pay[] = {0.2F, 0.5F, 1.0F, -1.0F};
  for (int k = 0; k < count; ++k) {
    int32_t a = learner.allowed[0][static_cast<size_t>(learner.act(0))];
    learner.samples.back().advantage = pay[a] - learner.value(0);
    learner.samples.back().target = pay[a];
  }
}

TEST(Ppo, SolvesABandit) {
  Learner learner(1, 4);
  for (int round = 0; round < 60; ++round) {
    play_bandit(learner, 256);
    learner.update();
  }
  EXPECT_GT(std::exp(learner.log_probs(0)[2]), 0.95);
  EXPECT_NEAR(learner.value(0), 1, 0.1);
}

/// A chain of 6 states: right (1) leads on and pays 5 at the end, left (0) pays 0.3 and ends.
TEST(Ppo, SolvesAChain) {
  constexpr int32_t kLast = 5;
  Learner learner(kLast + 1, 2);
  for (int round = 0; round < 80; ++round) {
    learner.samples.clear();
    while (learner.samples.size() < 256) {
      std::vector<float> rewards, values;
      size_t start = learner.samples.size();
      for (int32_t s = 0; s <= kLast; ++s) {
        int32_t a = learner.act(s);
        values.push_back(learner.value(s));
        rewards.push_back(a == 0 ? 0.3F : s == kLast ? 5.0F : 0.0F);
        if (a == 0) break;
      }
      auto adv = gae(rewards, values, 0, 1, 0.95);
      for (size_t k = 0; k < rewards.size(); ++k) {
        learner.samples[start + k].advantage = adv.advantages[k];
        learner.samples[start + k].target = adv.targets[k];
      }
    }
    learner.update();
  }
  for (int32_t s = 0; s <= kLast; ++s) EXPECT_GT(std::exp(learner.log_probs(s)[1]), 0.9) << s;
  EXPECT_NEAR(learner.value(0), 5, 0.7);
}

TEST(Ppo, RatioIsOneAtFirst) {
  Learner learner(1, 4);
  learner.options.entropy = 0;
  for (int round = 0; round < 3; ++round) {
    play_bandit(learner, 200);
    PpoReport r = learner.update();
    EXPECT_LT(r.first_deviation, 1e-5);
    EXPECT_GT(r.updates, 0);
  }
  play_bandit(learner, 200);
  learner.samples[0].log_prob -= 1;
  EXPECT_NEAR(learner.update().first_deviation, std::exp(1) - 1, 1e-4);
}

TEST(Ppo, MaskedActionsHaveNoGradient) {
  Learner learner(1, 4);
  learner.allowed[0] = {0, 2};
  for (int round = 0; round < 20; ++round) {
    play_bandit(learner, 128);
    learner.update();
  }
  const auto& logits = learner.table.parameters.value(0);
  EXPECT_EQ(logits(1, 0), 0);
  EXPECT_EQ(logits(3, 0), 0);
  EXPECT_GT(logits(2, 0), logits(0, 0) + 1);
}

TEST(Ppo, SameForAnyNumberOfThreads) {
  std::vector<Matrix<float>> results;
  for (int threads : {1, 2, 5}) {
    Learner learner(1, 4);
    for (int round = 0; round < 5; ++round) {
      play_bandit(learner, 300);
      learner.update(threads);
    }
    results.push_back(learner.table.parameters.value(0));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(Ppo, StopsWhenThePolicyMovedTooFar) {
  Learner learner(1, 4);
  play_bandit(learner, 256);
  learner.options = {.epochs = 50, .minibatch = 64, .target_kl = 0.01, .learning_rate = 0.1};
  PpoReport r = learner.update();
  EXPECT_TRUE(r.stopped_early);
  EXPECT_LT(r.updates, 20);
  EXPECT_GT(r.kl, 0.015);
}

TEST(Ppo, EntropyIsOneWhenEven) {
  Learner learner(1, 4);
  play_bandit(learner, 64);
  learner.options = {.epochs = 1, .minibatch = 64};
  EXPECT_NEAR(learner.update().entropy, 1, 1e-5);
  learner.allowed[0] = {2};
  play_bandit(learner, 64);
  EXPECT_EQ(learner.update().entropy, 0);
}

/// Sums of discounted differences, written out.
TEST(Gae, AgreesWithTheFormula) {
  std::vector<float> r{1, -2, 0.5F, 3}, v{0.3F, 1, -1, 2};
  for (double bootstrap : {0.0, 4.0}) {
    const double g = 0.9, l = 0.8;
    std::vector<double> next{v[1], v[2], v[3], bootstrap};
    Advantages a = gae(r, v, bootstrap, g, l);
    for (size_t k = 0; k < 4; ++k) {
      double sum = 0;
      for (size_t j = k; j < 4; ++j)
        sum += std::pow(g * l, static_cast<double>(j - k)) * (r[j] + g * next[j] - v[j]);
      EXPECT_NEAR(a.advantages[k], sum, 1e-5);
      EXPECT_NEAR(a.targets[k], sum + v[k], 1e-5);
    }
  }
}

/// With lambda 1 the target is what was paid, and the value where the episode was cut off.
TEST(Gae, CutOffIsNotTheEnd) {
  std::vector<float> r{1, 1, 1}, v{7, -3, 5};
  EXPECT_NEAR(gae(r, v, 0, 1, 1).targets[0], 3, 1e-5);
  EXPECT_NEAR(gae(r, v, 10, 1, 1).targets[0], 13, 1e-5);
  EXPECT_NEAR(gae(r, v, 10, 1, 0).targets[2], 11, 1e-5);
}

}  // namespace
}  // namespace regraft::rl

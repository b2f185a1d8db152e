#include "rl/network/network.h"

#include <cmath>
#include <numeric>

#include "rl/network/follow.h"
#include "rl/network/network_file.h"
#include "tests/rl/graphs.h"

namespace regraft::rl {
namespace {

const RuleTable& rules() {
  static const RuleTable table = describe(shipped_rules());
  return table;
}

Observation observe(int layer_count, int moves) {
  EnvironmentOptions options;
  options.max_locations = 4;
  Environment env(layers(layer_count), shipped_rules(), roofline(), options);
  Rng rng(4);
  for (int k = 0; k < moves; ++k) env.step(rng.below(env.stop()));
  return env.observation();
}

std::vector<NetworkOptions> all_kinds() {
  NetworkOptions plain{.width = 6, .hidden = 5}, full = plain, factorised = plain;
  full.global_messages = true;
  factorised.factorised = true;
  return {plain, full, factorised};
}

/// A number that depends on everything the network says.
template <class S>
nn::Var everything(nn::Tape<S>& t, const NetworkOf<S>& network, const Batch& batch) {
  auto out = network.forward(t, batch, rules());
  nn::Matrix<S> weights(t.rows(out.log_probs), 1);
  for (int64_t k = 0; k < weights.rows(); ++k) weights(k) = std::sin(S(k + 1));
  nn::Var loss = t.mean(t.mul(out.log_probs, t.constant(weights)));
  loss = t.add(loss, t.mean(t.square(out.values)));
  return t.add(loss, t.mean(t.square(out.worth)));
}

TEST(Network, GradientsAreDifferences) {
  Observation a = observe(1, 0), b = observe(1, 2);
  const Observation* both[] = {&a, &b};
  for (const NetworkOptions& options : all_kinds()) {
    Batch batch(both, options);
    NetworkOf<double> network(options, rules().columns, 4);
    auto& p = network.parameters();
    nn::Gradients<double> gradients(p);
    {
      nn::Tape<double> t(p, &gradients);
      t.backward(everything(t, network, batch));
    }
    auto loss = [&] {
      nn::Tape<double> t(p, nullptr);
      return t.scalar(everything(t, network, batch));
    };
    Rng rng(9);
    for (int i = 0; i < p.size(); ++i) {
      for (int draw = 0; draw < 3; ++draw) {
        auto k = static_cast<int64_t>(rng.below(static_cast<uint64_t>(p.value(i).size())));
        double& x = p.value(i).data()[k];
        double kept = x, h = 1e-6;
        x = kept + h;
        double up = loss();
        x = kept - h;
        double down = loss();
        x = kept;
        double slope = (up - down) / (2 * h), found = gradients.value(i).data()[k];
        EXPECT_NEAR(found, slope, 1e-6 + 1e-4 * std::abs(slope)) << p.name(i) << " " << k;
      }
    }
  }
}

TEST(Network, ActionsOfABatchAreThoseOfEachObservation) {
  Observation a = observe(2, 0), b = observe(1, 1);
  for (const NetworkOptions& options : all_kinds()) {
    Network network(options, rules().columns, 5);
    nn::Tape<float> t(network.parameters(), nullptr);
    const Observation* both[] = {&a, &b};
    Batch batch(both, options);
    auto out = network.forward(t, batch, rules());
    int32_t at = 0;
    auto policy = network_policy(network, rules(), "test");
    for (size_t g = 0; g < 2; ++g) {
      EXPECT_EQ(batch.first_action[g], at);
      Judgement j = policy->judge(*both[g]);
      ASSERT_EQ(j.log_probs.size(), both[g]->matches() + 1);
      double sum = 0;
      for (float l : j.log_probs) {
        EXPECT_NEAR(t.value(out.log_probs)(at++), l, 1e-4);
        sum += std::exp(l);
      }
      EXPECT_NEAR(sum, 1, 1e-4);
      EXPECT_NEAR(t.value(out.values)(static_cast<int64_t>(g)), j.value, 1e-4);
    }
  }
}

size_t rows_of(const Batch& b) {
  size_t rows = b.rule.size();
  for (const Batch::Level& level : b.levels)
    rows += level.node_graph.size() + level.edge_graph.size();
  return rows;
}

/// States of one graph, two of them equal but for where the episode stands. Messages through the
/// graph tell all nodes of one from those of another.
TEST(Network, WhatIsAlikeIsComputedOnce) {
  Observation a = observe(3, 0), b = observe(3, 1), c = b;
  c.global[2] = 0.5F;
  const Observation* all[] = {&a, &b, &c};
  std::span<const Observation* const> list(all);
  for (const NetworkOptions& options : all_kinds()) {
    auto rows = [&](size_t first, size_t n) {
      return rows_of(Batch(list.subspan(first, n), options));
    };
    size_t apart = options.global_messages ? rows(2, 1) : 0;
    EXPECT_EQ(rows(0, 3), rows(0, 2) + apart);
    EXPECT_EQ(rows(0, 2) < rows(0, 1) + rows(1, 1), !options.global_messages);
  }
}

TEST(Network, PartOfABatchIsTheBatchOfAPart) {
  Observation a = observe(2, 0), b = observe(1, 1), c = observe(2, 3);
  const Observation *all[] = {&a, &b, &c}, *some[] = {&c, &a};
  for (const NetworkOptions& options : all_kinds()) {
    Network network(options, rules().columns, 5);
    nn::Tape<float> t(network.parameters(), nullptr);
    Batch part = Batch(all, options).part(std::vector<int32_t>{2, 0}), anew(some, options);
    EXPECT_EQ(part.first_action, anew.first_action);
    EXPECT_EQ(rows_of(part), rows_of(anew));
    auto x = network.forward(t, part, rules()), y = network.forward(t, anew, rules());
    for (auto [p, q] : {std::pair(x.log_probs, y.log_probs), std::pair(x.values, y.values),
                        std::pair(x.worth, y.worth), std::pair(x.latent, y.latent)})
      EXPECT_LT((t.value(p) - t.value(q)).norm(), 1e-4);
  }
}

TEST(Network, TheOrderOfNodesAndMatchesDoesNotMatter) {
  Observation o = observe(2, 1), p = o;
  auto n = static_cast<size_t>(o.nodes);
  auto moved = [&](int32_t k) { return static_cast<int32_t>((static_cast<size_t>(k) + 3) % n); };
  for (size_t k = 0; k < n; ++k) {
    auto to = static_cast<size_t>(moved(static_cast<int32_t>(k)));
    p.op[to] = o.op[k];
    std::copy_n(o.node.begin() + static_cast<long>(k * kNodeFeatures), kNodeFeatures,
                p.node.begin() + static_cast<long>(to * kNodeFeatures));
  }
  for (auto* list : {&p.source, &p.target, &p.inside, &p.near})
    for (int32_t& k : *list) k = moved(k);
  for (const NetworkOptions& options : all_kinds()) {
    Network network(options, rules().columns, 5);
    auto policy = network_policy(network, rules(), "test");
    Judgement a = policy->judge(o), b = policy->judge(p);
    for (size_t k = 0; k < a.log_probs.size(); ++k)
      EXPECT_NEAR(a.log_probs[k], b.log_probs[k], 1e-4);
    EXPECT_NEAR(a.value, b.value, 1e-4);
  }
}

/// What matches save makes no difference where it is hidden, and else it does.
TEST(Network, SavingsMayBeHidden) {
  Observation o = observe(2, 1), p = o;
  for (size_t k = 0; k < o.matches(); ++k)
    for (size_t column : kMatchSavings) p.match[k * kMatchFeatures + column] += 0.7F;
  for (size_t column : kGlobalSavings) p.global[column] += 0.4F;
  for (bool factorised : {false, true})
    for (bool hidden : {true, false}) {
      Network network({.factorised = factorised, .hide_cost = hidden}, rules().columns, 5);
      auto read = read_network(network_file(network, "test"), "test");
      ASSERT_TRUE(read.has_value());
      auto policy = network_policy(*read, rules(), "test");
      Judgement a = policy->judge(o), b = policy->judge(p);
      EXPECT_EQ(a.log_probs == b.log_probs, hidden);
      EXPECT_EQ(a.value == b.value, hidden);
    }
}

class Following : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(HideCost, Following, testing::Bool());

TEST_P(Following, AFollowerSaysWhatTheNetworkSays) {
  EnvironmentOptions options;
  options.max_locations = 100000;
  Environment env(layers(4), shipped_rules(), roofline(), options);
  Network network({.width = 8, .hidden = 8, .hide_cost = GetParam()}, rules().columns, 21);
  auto policy = network_policy(network, rules(), "test");
  Follower follower(network, rules(), env);
  Observer observer(env.engine(), env.original());
  double best = env.cost();
  Rng rng(6);
  for (int step = 0; step < 40; ++step) {
    int32_t chosen = follower.best();
    std::vector<int32_t> allowed = env.allowed(best);
    Judgement j = policy->judge(observer.observe(
        {env.original(), best, static_cast<double>(step) / env.max_steps()}, allowed));
    const auto& logits = follower.logits();
    ASSERT_EQ(logits.numbers.size(), allowed.size());
    EXPECT_NEAR(logits.value, j.value, 1e-3);
    std::map<int32_t, float> by_number;
    for (size_t k = 0; k < logits.numbers.size(); ++k)
      by_number[logits.numbers[k]] = logits.matches[k] - logits.stop;
    for (size_t k = 0; k < allowed.size(); ++k)
      EXPECT_NEAR(by_number.at(allowed[k]), j.log_probs[k] - j.log_probs.back(), 1e-3) << step;
    size_t likely = most_probable(j.log_probs);
    float chosen_logit = chosen < 0 ? 0 : by_number.at(chosen);
    EXPECT_NEAR(chosen_logit, j.log_probs[likely] - j.log_probs.back(), 1e-3);
    if (allowed.empty()) break;
    follower.apply(allowed[rng.below(allowed.size())]);
    best = std::min(best, env.cost());
  }
}

TEST_P(Following, AFollowerJudgesTheStepsOfAnEpisode) {
  EnvironmentOptions options;
  options.max_locations = 3;  // fewer than some rules have
  Environment env(layers(4), shipped_rules(), roofline(), options);
  Network network({.width = 8, .hidden = 8, .hide_cost = GetParam()}, rules().columns, 21);
  auto policy = network_policy(network, rules(), "test");
  Rng rng(9);
  size_t hidden = 0;
  for (int episode = 0; episode < 2; ++episode) {
    env.reset();
    Follower follower(network, rules(), env);
    for (StepResult r; !r.done();) {
      Judgement j = policy->judge(env.observation()), f = follower.judge();
      ASSERT_EQ(f.log_probs.size(), env.stop() + 1);
      EXPECT_NEAR(f.value, j.value, 1e-3);
      for (size_t k = 0; k < j.log_probs.size(); ++k)
        EXPECT_NEAR(f.log_probs[k], j.log_probs[k], 1e-3);
      hidden += env.overflow();
      size_t action = rng.below(env.stop() + (env.steps() > 20 ? 1 : 0));
      bool applied = action != env.stop();
      r = env.step(action);
      if (applied) follower.follow();
    }
  }
  EXPECT_GT(hidden, 0u);
}

TEST(Network, FilesKeepIt) {
  for (const NetworkOptions& options : all_kinds()) {
    Network network(options, rules().columns, 8);
    auto file = network_file(network, "test");
    auto read = read_network(file, "test");
    ASSERT_TRUE(read.has_value()) << read.error().message;
    Observation o = observe(1, 0);
    EXPECT_EQ(network_policy(network, rules(), "a")->judge(o).log_probs,
              network_policy(*read, rules(), "b")->judge(o).log_probs);
    EXPECT_FALSE(read_network(file, "other").has_value());
    ++file.feature_hash;
    EXPECT_FALSE(read_network(file, "test").has_value());
  }
}

/// A file of a few kilobytes does not make a network of gigabytes.
TEST(Network, FilesHaveTheMatricesOfTheirSizes) {
  Network network({.width = 6, .hidden = 5}, rules().columns, 8);
  for (const char* name : {"width", "hidden", "rounds"}) {
    auto file = network_file(network, "test");
    file.counters[name] = uint64_t{64};
    EXPECT_FALSE(read_network(file, "test")) << name;
  }
  for (const char* name : {"network/ops", "network/rules.0.w"}) {
    auto file = network_file(network, "test");
    file.arrays[name] = {0, int64_t{1} << 60, std::vector<float>()};
    file.lists[name == std::string("network/ops") ? "ops" : "rule_columns"].clear();
    EXPECT_FALSE(read_network(file, "test")) << name;
  }
}

/// A file that was written when there were other operators.
TEST(Network, FilesOutliveChangesOfTheListOfOperators) {
  Network network({.width = 6, .hidden = 5}, rules().columns, 8);
  auto file = network_file(network, "test");
  for (const auto& [list, parameter] :
       {std::pair("ops", "network/ops"), std::pair("rule_columns", "network/rules.0.w")}) {
    auto& names = file.lists.at(list);
    auto& array = file.arrays.at(parameter);
    auto& numbers = std::get<std::vector<float>>(array.numbers);
    std::reverse(names.begin(), names.end());
    std::vector<float> turned;
    for (int64_t r = array.rows; r-- > 0;)
      turned.insert(turned.end(), numbers.begin() + r * array.cols,
                    numbers.begin() + (r + 1) * array.cols);
    numbers = turned;
  }
  auto read = read_network(file, "test");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  Observation o = observe(1, 0);
  EXPECT_EQ(network_policy(network, rules(), "a")->judge(o).log_probs,
            network_policy(*read, rules(), "b")->judge(o).log_probs);
}

}  // namespace
}  // namespace regraft::rl

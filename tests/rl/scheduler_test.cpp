#include "rl/planner/scheduler.h"

#include <algorithm>
#include <limits>

#include "rewrite/search/exhaustive.h"
#include "tests/rl/barrier.h"

namespace regraft::rl {
namespace {

using rewrite::Engine;
using rewrite::RuleIndex;

/// A match is worth what it costs.
class Backwards final : public Policy {
 public:
  Judgement judge(const Observation& o) const override {
    Judgement j = uniform_policy()->judge(o);
    for (size_t k = 0; k < o.matches(); ++k) j.worth.push_back(o.match[k * kMatchFeatures]);
    return j;
  }
  std::string description() const override { return "made up"; }
};

/// Long sums, which can be put in many orders, and at last a valley.
Graph haystack(int sums) {
  Graph g;
  std::vector<Value> outputs;
  for (int k = 0; k < sums; ++k) {
    Shape shape{Poly(16 + k), Poly(16)};
    Value v = input(g, shape);
    for (int i = 0; i < 6; ++i) v = call(g, "add", {v, input(g, shape)});
    outputs.push_back(call(g, "tanh", {v}));
  }
  Value x = input(g, {Poly(8), Poly(8)}), y = input(g, {Poly(8), Poly(8)});
  auto transpose = [&](Value v) { return call(g, "transpose", {v}, {{1, 0}}); };
  outputs.push_back(transpose(call(g, "add", {transpose(x), transpose(y)})));
  g.set_outputs(outputs);
  return g;
}

TEST(WindowOrder, ACentreIsWorthItsBestMatch) {
  Graph g = haystack(2);
  Engine engine(g, barrier_rules(), roofline());
  std::vector<int32_t> centres;
  std::vector<double> expected;
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    double best = std::numeric_limits<double>::lowest();
    for (int32_t number : engine.matches()) {
      const auto& m = engine.match(number);
      if (std::ranges::count(m.nodes, id) > 0) best = std::max(best, m.cost_change);
    }
    centres.push_back(id);
    expected.push_back(best);
  }
  auto scores = window_order(std::make_shared<Backwards>())(engine, centres);
  ASSERT_EQ(scores.size(), centres.size());
  for (size_t a = 0; a < scores.size(); ++a)
    for (size_t b = 0; b < scores.size(); ++b)
      if (expected[a] > expected[b] + 1e-6) {
        EXPECT_GT(scores[a], scores[b]);
      }
  double most = *std::ranges::max_element(scores);
  auto cut = window_order(std::make_shared<Backwards>(), {.threshold = most})(engine, centres);
  for (size_t k = 0; k < cut.size(); ++k)
    EXPECT_EQ(cut[k], scores[k] == most ? most : std::numeric_limits<double>::lowest());
}

TEST(WindowOrder, LogProbabilitiesStandForWorths) {
  Engine engine(haystack(1), barrier_rules(), roofline());
  std::vector<int32_t> centres;
  for (int32_t number : engine.matches()) centres.push_back(engine.match(number).root());
  auto up = window_order(cost_prior(1))(engine, centres);
  auto noisy = window_order(cost_prior(1), {.temperature = 0.1, .seed = 1})(engine, centres);
  auto again = window_order(cost_prior(1), {.temperature = 0.1, .seed = 1})(engine, centres);
  EXPECT_LT(*std::ranges::max_element(up), 0);
  EXPECT_EQ(noisy, again);
  EXPECT_NE(noisy, up);
}

TEST(WindowOrder, FindsSoonerWhatThePolicyKnows) {
  Graph g = haystack(30);
  rewrite::SearchOptions options{.budget = 1500};
  auto blind = rewrite::Windows().search(g, barrier_rules(), roofline(), options, Stop());
  auto told = rewrite::Windows(window_order(std::make_shared<Backwards>()))
                  .search(g, barrier_rules(), roofline(), options, Stop());
  EXPECT_EQ(blind.cost_after, blind.cost_before);
  EXPECT_LT(told.cost_after, told.cost_before);
}

size_t find_rule(const Environment& env, const std::string& name) {
  for (size_t k = 0; k < env.stop(); ++k)
    if (env.match(k).fit->rule->rule.name.starts_with(name)) return k;
  ADD_FAILURE() << name;
  return 0;
}

float worth_of(const Worths& w, size_t match) {
  auto at = std::ranges::find(w.match, static_cast<int32_t>(match));
  EXPECT_NE(at, w.match.end());
  return w.worth.at(static_cast<size_t>(at - w.match.begin()));
}

TEST(Worths, AnUphillMoveIsWorthWhatItLeadsTo) {
  Graph g = valleys(1);
  Environment env(g, barrier_rules(), roofline(), {.ceiling = 2});
  Rng rng(1);
  Worths w = search_worths(env, {.radius = 3, .candidates = 400}, rng);
  auto optimum = rewrite::Exhaustive().search(g, barrier_rules(), roofline(), {}, Stop());
  double saving = 100 * (optimum.cost_before - optimum.cost_after) / optimum.cost_before;
  EXPECT_GT(saving, 10);
  EXPECT_NEAR(worth_of(w, find_rule(env, "transpose-add")), saving, 1e-4);
  for (char exact : w.exact) EXPECT_TRUE(exact);
  EXPECT_EQ(env.engine().depth(), 0U);
  Worths few = search_worths(env, {.radius = 3, .candidates = 1}, rng);
  EXPECT_EQ(worth_of(few, find_rule(env, "transpose-add")), 0);
  for (char exact : few.exact) EXPECT_FALSE(exact);
}

/// Both of two moves that go together are credited; a detour that is taken back is not.
TEST(Worths, CreditGoesToShortestWays) {
  RuleIndex rules = rewrite::index_of(
      {rewrite::kReluTwice,
       "sub-add (sub ?a ?b) => (add ?a (neg ?b)) for a:nn b:nn proved:all-sizes",
       "add-sub (add ?a (neg ?b)) => (sub ?a ?b) for a:nn b:nn proved:all-sizes"});
  Graph g;
  Value v = input(g, {Poly(8), Poly(8)});
  auto twice = [&](Value x) { return call(g, "relu", {call(g, "relu", {x})}); };
  g.set_outputs({call(g, "sub", {call(g, "exp", {twice(call(g, "exp", {twice(v)}))}), v})});
  Environment env(g, rules, roofline(), {.ceiling = 1.2});
  Rng rng(1);
  Worths w = search_worths(env, {.radius = 5, .candidates = 1000}, rng);
  ASSERT_EQ(env.stop(), 3U);
  auto percent = [&](const char* rule) {
    return 100 * env.match(find_rule(env, rule)).cost_change / env.original();
  };
  double one = -percent("relu-twice"), detour = percent("sub-add");
  ASSERT_GT(detour, 0);
  for (size_t k = 0; k < env.stop(); ++k) {
    bool pays = env.match(k).cost_change < 0;
    EXPECT_NEAR(worth_of(w, k), 2 * one - (pays ? 0 : detour), 1e-4) << k;
  }
}

TEST(WindowLabels, AreTheSameForAnyNumberOfThreads) {
  LabelOptions options{.states = 6, .centres = 4, .candidates = 100, .seed = 3};
  Graph g = layers(3);
  auto one = window_labels(g, shipped_rules(), roofline(), {.ceiling = 1.5}, options);
  options.threads = 3;
  auto more = window_labels(g, shipped_rules(), roofline(), {.ceiling = 1.5}, options);
  ASSERT_EQ(one.size(), 6U);
  size_t positive = 0, states = 0;
  for (size_t k = 0; k < one.size(); ++k) {
    const Worths &w = one[k].worths, &x = more[k].worths;
    EXPECT_EQ(one[k].observation.match, more[k].observation.match);
    EXPECT_EQ(w.match, x.match);
    EXPECT_EQ(w.worth, x.worth);
    EXPECT_EQ(w.exact, x.exact);
    EXPECT_TRUE(std::ranges::is_sorted(w.match));
    states += !w.match.empty();
    for (size_t i = 0; i < w.match.size(); ++i) {
      auto m = static_cast<size_t>(w.match[i]);
      ASSERT_LT(m, one[k].observation.matches());
      double slog = one[k].observation.match[m * kMatchFeatures + 1];
      EXPECT_GE(w.worth[i], std::max(0.0, -std::copysign(std::expm1(std::abs(slog)), slog)) - 1e-3);
      positive += w.worth[i] > 0;
    }
  }
  EXPECT_EQ(states, one.size());
  EXPECT_GT(positive, 10U);
  options.seed = 4;
  auto other = window_labels(g, shipped_rules(), roofline(), {.ceiling = 1.5}, options);
  auto same = [&](size_t k) { return one[k].observation.match == other[k].observation.match; };
  EXPECT_FALSE(same(0) && same(1) && same(2) && same(3) && same(4) && same(5));
}

}  // namespace
}  // namespace regraft::rl

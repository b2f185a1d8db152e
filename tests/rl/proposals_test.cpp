// First steps that a policy proposes, and the network that learns them.
#include "rl/planner/proposals.h"

#include "rewrite/search/greedy.h"
#include "rewrite/search/reporter.h"
#include "rewrite/windows/windows.h"
#include "rl/network/network_file.h"
#include "rl/planner/proposer.h"
#include "rl/search.h"
#include "tests/rl/graphs.h"

namespace regraft::rl {
namespace {

using rewrite::PayingPart;

const rewrite::RuleIndex& rules() {
  static const rewrite::RuleIndex index =
      rewrite::index_of({rewrite::kReluTwice, rewrite::kAddCommute, rewrite::kTransposeTwice,
                         rewrite::kTransposeAdd, rewrite::kAddAssociate});
  return index;
}

/// Transposes that cancel after an uphill step, each in its own surroundings.
Graph valleys(int count) {
  Graph g;
  auto transpose = [&](Value x) { return call(g, "transpose", {x}, {{1, 0}}); };
  Value v = input(g, {Poly(16), Poly(16)}), w = input(g, {Poly(16), Poly(16)});
  for (int k = 0; k < count; ++k) {
    v = transpose(call(g, "add", {transpose(v), transpose(w)}));
    for (int t = 0; t <= k; ++t) v = call(g, "tanh", {v});
  }
  g.set_outputs({v});
  return g;
}

std::vector<PayingPart> parts_of(const Graph& g) {
  auto report = rewrite::Windows().search(g, rules(), roofline(), {.budget = 20000}, Stop());
  return rewrite::paying_parts(g, rules(), report.steps, roofline(), {}, Stop());
}

rewrite::SearchReport proposed(const Graph& g, std::shared_ptr<const Policy> policy,
                               uint64_t budget = 100000) {
  return PolicySearch(std::move(policy), PolicyMode::Proposed)
      .search(g, rules(), roofline(), {.budget = budget}, Stop());
}

TEST(PayingParts, HaveTheMovesThatMakeThem) {
  Graph g = valleys(2);
  auto parts = parts_of(g);
  ASSERT_FALSE(parts.empty());
  for (const PayingPart& part : parts) {
    rewrite::Engine engine(g, rules(), roofline());
    double before = engine.cost();
    for (const rewrite::Move& m : part.moves) rewrite::redo(engine, m);
    EXPECT_NEAR(before - engine.cost(), part.gain, 1e-6 * before);
    EXPECT_GE(part.moves.size(), 2U);
  }
}

TEST(PayingParts, HaveNoSmallerOneThatPaysByItself) {
  const auto one = parts_of(valleys(1));
  ASSERT_FALSE(one.empty());
  const auto most = [](const std::vector<PayingPart>& parts) {
    return std::ranges::max(parts, {}, [](const PayingPart& p) { return p.moves.size(); })
        .moves.size();
  };
  const auto three = parts_of(valleys(3));  // all of it hangs together
  EXPECT_EQ(three.size(), 3 * one.size());
  EXPECT_LT(most(three), 2 * most(one));  // the places share an input, but no part has two of them
}

TEST(Proposals, FindWhatBeginsUphill) {
  Graph g = valleys(3);
  auto downhill = rewrite::Greedy().search(g, rules(), roofline(), {}, Stop());
  auto report = proposed(g, uniform_policy());
  EXPECT_LT(report.cost_after, downhill.cost_after);
  EXPECT_EQ(cost::graph_cost(roofline(), report.best).calls_by_op.count("transpose"), 0U);
  Environment env(report.best, rules(), roofline(), {});
  EXPECT_NEAR(env.cost(), report.cost_after, 1e-6 * env.cost());
  EXPECT_TRUE(rewrite::same_fingerprints(g, report.best));
}

TEST(Proposals, EndByTheirBudgetAndWhenStopped) {
  Graph g = valleys(4);
  EXPECT_LE(proposed(g, uniform_policy(), 40).candidates, 40U);
  Stop stop(1e-9);
  auto report =
      PolicySearch(uniform_policy(), PolicyMode::Proposed).search(g, rules(), roofline(), {}, stop);
  EXPECT_EQ(report.stop, rewrite::StopReason::Time);
}

TEST(Proposals, OnePlaceStandsForThoseLikeIt) {
  Graph g;
  Value v = input(g, {Poly(16), Poly(16)}), w = input(g, {Poly(16), Poly(16)});
  for (int k = 0; k < 30; ++k)
    v = call(g, "tanh", {call(g, "add", {call(g, "add", {call(g, "relu", {v}), v}), w})});
  g.set_outputs({v});
  Environment env(g, rules(), roofline(), {});
  auto policy = uniform_policy();
  ProposalOptions options;
  Stop stop;
  Proposals proposals(env, *policy, options, stop);
  auto never = [] { return std::optional<rewrite::StopReason>(); };
  EXPECT_EQ(proposals.round({}, never), rewrite::StopReason::Exhausted);
  EXPECT_EQ(proposals.kept(), 0U);
  EXPECT_GE(env.stop(), 60U);
  EXPECT_LT(2 * proposals.tried(), env.stop());
  uint64_t tried = proposals.tried();
  proposals.round({}, never);
  EXPECT_EQ(proposals.tried(), tried);  // all are known
}

TEST(Proposer, FirstStepsAreThoseOfPartsOrToStop) {
  Graph g = valleys(2);
  auto parts = parts_of(g);
  Environment env(g, rules(), roofline(), {});
  env.reset();
  ExpertSample none = first_steps(env, {});
  EXPECT_EQ(none.policy.back(), 1);
  ExpertSample some = first_steps(env, parts);
  EXPECT_EQ(some.policy.back(), 0);
  double sum = 0;
  for (size_t k = 0; k < env.stop(); ++k) {
    sum += some.policy[k];
    if (some.policy[k] > 0) {
      EXPECT_TRUE(std::ranges::any_of(parts, [&](const PayingPart& p) {
        return std::ranges::any_of(p.moves,
                                   [&](const auto& m) { return env.match(k).is_at(m.place()); });
      }));
    }
  }
  EXPECT_NEAR(sum, 1, 1e-6);
  Rng rng(3);
  size_t count = proposal_samples(env, parts, 4, rng).size();
  EXPECT_GT(count, 4U);
  EXPECT_LE(count, 16U);
}

Proposer trained(int threads) {
  static const Graph g = valleys(3), flat = layers(1);
  static const auto parts = parts_of(g);
  ProposalLesson lessons[] = {{&g, {}, parts}, {&flat, {}, {}}};
  ProposerOptions options;
  options.network = {.width = 8, .hidden = 8, .cost_prior = 1};
  options.epochs = 60;
  options.threads = threads;
  return train_proposer(lessons, rules(), roofline(), options, Stop());
}

TEST(Proposer, LearnsWhereToBegin) {
  Proposer p = trained(1);
  EXPECT_GT(p.samples, 5U);
  EXPECT_LT(p.last.policy_loss, 0.5 * p.first.policy_loss);
  RuleTable table = describe(rules());
  auto policy = network_policy(p.network, table, "trained");
  Graph unseen = valleys(5);
  auto least = proposed(unseen, uniform_policy()).cost_after;
  EXPECT_LE(proposed(unseen, std::move(policy)).cost_after, least * (1 + 1e-9));
}

TEST(Proposer, TheSameForAnyNumberOfThreads) {
  Proposer a = trained(1), b = trained(3);
  EXPECT_EQ(to_bytes(network_file(a.network, kNetworkPolicy)),
            to_bytes(network_file(b.network, kNetworkPolicy)));
}

TEST(Proposer, StoppedItHasLearnedNothing) {
  Graph g = valleys(2);
  auto parts = parts_of(g);
  ProposalLesson lesson{&g, {}, parts};
  Stop stop(1e-9);
  EXPECT_EQ(train_proposer({&lesson, 1}, rules(), roofline(), {}, stop).last.updates, 0);
}

}  // namespace
}  // namespace regraft::rl

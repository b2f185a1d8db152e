#include "rl/planner/proposer.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/hash.h"

namespace regraft::rl {

using rewrite::Engine;
using rewrite::Move;
using rewrite::PayingPart;

namespace {

/// The number of a match that applies; -1: it does not.
int32_t match_of(Engine& engine, const Move& move) {
  auto there = [&](int32_t id) {
    return id >= 0 && id < engine.graph().id_bound() && engine.graph().alive(id);
  };
  return std::ranges::all_of(move.nodes, there) ? engine.find(move) : -1;
}

/// Makes a part's moves, or none. Those of a part are numbered as made from the beginning; after
/// others it is left out where it makes nodes that its later moves are about.
bool made(Engine& engine, const PayingPart& part, int32_t first_made) {
  const size_t depth = engine.depth();
  const int32_t ahead = engine.graph().id_bound() - first_made;
  auto here = [&](int32_t id) { return id < first_made ? id : id + ahead; };
  for (const Move& made : part.moves) {
    Move move = made;
    for (int32_t& id : move.nodes) id = here(id);
    for (Value& v : move.variables) v.node = here(v.node);
    const int32_t number = match_of(engine, move);
    const size_t before = engine.depth();
    if (number >= 0) engine.apply(number);
    if (number >= 0 && engine.moves()[before].added == made.added) continue;
    while (engine.depth() > depth) engine.undo();
    return false;
  }
  return true;
}

}  // namespace

ExpertSample first_steps(Environment& env, std::span<const PayingPart> parts) {
  std::vector<float> policy(env.stop() + 1, 0);
  size_t good = 0;
  for (size_t k = 0; k < env.stop(); ++k) {
    const rewrite::Match& m = env.match(k);
    auto begins = [&](const PayingPart& part) {
      return std::ranges::any_of(part.moves, [&](const Move& s) { return m.is_at(s.place()); });
    };
    if (!std::ranges::any_of(parts, begins)) continue;
    policy[k] = 1;
    ++good;
  }
  if (good == 0) policy.back() = 1;
  for (float& p : policy) p /= static_cast<float>(std::max<size_t>(good, 1));
  return {env.observation(), std::move(policy), std::nullopt, {}};
}

std::vector<ExpertSample> proposal_samples(Environment& env, std::span<const PayingPart> parts,
                                           int count, Rng& rng) {
  env.reset();
  std::vector<ExpertSample> samples{first_steps(env, parts)};
  const int32_t first_made = env.engine().graph().id_bound();
  std::vector<size_t> order(parts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (int k = 1; k < count && !parts.empty(); ++k) {
    env.reset();
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    const size_t wanted = 1 + rng.below(parts.size());
    std::vector<PayingPart> others;
    for (size_t i = 0; i < order.size(); ++i)
      if (i >= wanted || !made(env.engine(), parts[order[i]], first_made))
        others.push_back(parts[order[i]]);
    env.reset(std::vector<Move>(env.engine().moves()));
    samples.push_back(first_steps(env, others));
  }
  for (int k = 0; k < 3 * count && !parts.empty(); ++k) {
    const PayingPart& part = parts[rng.below(parts.size())];
    const auto done = static_cast<std::ptrdiff_t>(1 + rng.below(part.moves.size() - 1));
    env.reset({part.moves.begin(), part.moves.begin() + done});
    PayingPart later{{part.moves.begin() + done, part.moves.end()}, error("an end"), part.gain};
    ExpertSample sample = first_steps(env, {&later, 1});
    if (sample.policy.back() == 0) samples.push_back(std::move(sample));
  }
  return samples;
}

Proposer train_proposer(std::span<const ProposalLesson> lessons, const rewrite::RuleIndex& rules,
                        const cost::CostModel& model, const ProposerOptions& options,
                        const Stop& stop) {
  const RuleTable table = describe(rules);
  Proposer proposer{Network(options.network, table.columns, options.seed), 0, {}, {}};
  std::vector<std::vector<ExpertSample>> by_lesson(lessons.size());
  parallel_for(lessons.size(), options.threads, [&](size_t k) {
    if (stop.must_end()) return;
    EnvironmentOptions of_model;
    of_model.opset = lessons[k].opset;
    Environment env(*lessons[k].graph, rules, model, of_model);
    Rng rng(combine(options.seed, k));
    if (env.stop() > 0) by_lesson[k] = proposal_samples(env, lessons[k].parts, options.states, rng);
  });
  std::vector<ExpertSample> samples;
  for (auto& of_one : by_lesson) std::ranges::move(of_one, std::back_inserter(samples));
  proposer.samples = samples.size();
  nn::Adam<float> adam(proposer.network.parameters());
  Rng rng(options.seed);
  for (int epoch = 0; epoch < options.epochs && !samples.empty() && !stop.must_end(); ++epoch) {
    proposer.last =
        expert_update(proposer.network, table, adam, samples, options.update, rng, options.threads);
    if (epoch == 0) proposer.first = proposer.last;
  }
  return proposer;
}

}  // namespace regraft::rl

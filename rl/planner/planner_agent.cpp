#include "rl/planner/planner_agent.h"

#include <algorithm>
#include <iterator>

#include "base/hash.h"

namespace regraft::rl {

PlannerAgent::PlannerAgent(const std::vector<Graph>& graphs, const rewrite::RuleIndex& rules,
                           const cost::CostModel& model, const PlannerAgentOptions& options,
                           uint64_t seed)
    : graphs_(graphs),
      index_(rules),
      model_(model),
      options_(options),
      pool_(graphs, rules, model, options.environment),
      learner_(options.network, describe(rules),
               {graphs.size(), options.from_kept, options.from_random},
               training_hash(graphs, rules, model), seed) {}

auto PlannerAgent::play(size_t graph, const Policy& policy, uint64_t seed) -> Played {
  EnvironmentPool::Lease env(pool_, graph);
  Rng rng(seed);
  std::vector<rewrite::Move> before = learner_.starts.draw(*env, graph, rng);
  env->reset(before);
  Played p{graph, env->cost(), env->original(), {}};
  if (env->stop() == 0) return p;
  p.episode = plan_episode(*env, policy, options_.planner, options_.labels, rng);
  p.episode.moves.insert(p.episode.moves.begin(), before.begin(), before.end());
  return p;
}

std::vector<ExpertSample> PlannerAgent::labelled(size_t graph, uint64_t seed) const {
  LabelOptions options = options_.labels;
  options.seed = seed;
  options.threads = options_.threads;
  return to_samples(window_labels(graphs_[graph], index_, model_, options_.environment, options));
}

/// States of some graphs, in turn.
std::vector<ExpertSample> PlannerAgent::demonstrated() {
  size_t count = std::min(options_.demonstrated, graphs_.size());
  auto first = static_cast<uint64_t>(learner_.iteration) * count;
  std::vector<std::vector<ExpertSample>> parts(count);
  parallel_for(count, options_.threads, [&](size_t k) {
    size_t graph = (first + k) % graphs_.size();
    EnvironmentPool::Lease env(pool_, graph);
    Rng rng(combine(learner_.seed ^ 3, first + k));
    parts[k] = samples_of(*env, shown_[graph], options_.demonstrated_states, rng);
  });
  std::vector<ExpertSample> all;
  for (auto& part : parts) std::ranges::move(part, std::back_inserter(all));
  return all;
}

auto PlannerAgent::plan_episodes(const Stop& stop) -> std::vector<Played> {
  if (learner_.iteration < options_.imitation) return {};
  auto count = static_cast<size_t>(options_.episodes);
  auto first = static_cast<uint64_t>(learner_.iteration) * count;
  std::vector<Played> played(count);
  auto now = policy();
  parallel_for(count, options_.threads, [&](size_t k) {
    if (stop.must_end()) return;
    played[k] = play((first + k) % pool_.size(), *now, combine(learner_.seed, first + k));
  });
  return played;
}

LogRow PlannerAgent::iterate(const Stop& stop) {
  if (shown_.empty()) {
    rewrite::SearchOptions search;
    search.budget = options_.demonstration_budget;
    search.seed = learner_.seed;
    shown_ = demonstrate(graphs_, index_, model_, search, options_.threads, stop);
  }
  auto played = plan_episodes(stop);
  if (stop.must_end()) {
    shown_.clear();  // it may have been cut off
    return {};
  }
  auto turn = static_cast<uint64_t>(learner_.iteration);
  if (turn == 0)
    for (const Demonstration& d : shown_) learner_.searched += d.candidates;
  auto samples = labelled(turn % graphs_.size(), combine(learner_.seed ^ 2, turn));
  for (const ExpertSample& s : samples) learner_.searched += s.worths.candidates;
  std::ranges::move(demonstrated(), std::back_inserter(samples));
  for (const Played& p : played) {
    if (p.episode.samples.empty()) continue;
    learner_.real_steps += p.episode.samples.size();
    learner_.searched += p.episode.candidates;
    learner_.starts.keep(p.graph, p.episode.best, p.episode.moves);
  }
  LogRow row = learn(std::move(played), std::move(samples));
  ++learner_.iteration;
  return row;
}

LogRow PlannerAgent::learn(std::vector<Played>&& played, std::vector<ExpertSample>&& samples) {
  double saved = 0, percent = 0, decisions = 0, candidates = 0, episodes = 0;
  for (Played& p : played) {
    if (p.episode.samples.empty()) continue;
    ++episodes;
    saved += 100 * (p.started - p.episode.best) / p.original;
    percent += 100 * (p.episode.best / p.original - 1);
    decisions += static_cast<double>(p.episode.samples.size());
    candidates += static_cast<double>(p.episode.candidates);
    std::ranges::move(p.episode.samples, std::back_inserter(samples));
  }
  Rng rng = learner_.rng(1);
  ExpertReport r = expert_update(learner_.network, learner_.rules, learner_.adam, samples,
                                 options_.update, rng, options_.threads);
  episodes = std::max(1.0, episodes);
  return {{"reward", saved / episodes},
          {"length", decisions / episodes},
          {"best_percent", percent / episodes},
          {"real_steps", static_cast<double>(learner_.real_steps)},
          {"candidates", candidates / episodes},
          {"searched", static_cast<double>(learner_.searched)},
          {"policy_loss", r.policy_loss},
          {"value_loss", r.value_loss},
          {"worth_loss", r.worth_loss},
          {"agreement", r.agreement},
          {"explained_variance", r.explained_variance}};
}

}  // namespace regraft::rl

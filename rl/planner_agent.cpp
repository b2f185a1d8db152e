#include "rl/planner_agent.h"

#include <algorithm>
#include <iterator>

#include "base/hash.h"
#include "rl/nn/store.h"

namespace regraft::rl {
namespace {

constexpr const char* kKind = "planner";

}  // namespace

PlannerAgent::PlannerAgent(const std::vector<Graph>& graphs, const rewrite::RuleIndex& rules,
                           const cost::CostModel& model, const PlannerAgentOptions& options,
                           uint64_t seed)
    : graphs_(graphs),
      index_(rules),
      model_(model),
      options_(options),
      seed_(seed),
      rules_(describe(rules)),
      pool_(graphs, rules, model, options.environment),
      network_(options.network, rules_.columns, seed),
      adam_(network_.parameters()),
      starts_(graphs.size(), options.from_kept, options.from_random) {}

auto PlannerAgent::play(size_t graph, const Policy& policy, uint64_t seed) -> Played {
  EnvironmentPool::Lease env(pool_, graph);
  Rng rng(seed);
  std::vector<rewrite::Move> before = starts_.draw(*env, graph, rng);
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

LogRow PlannerAgent::iterate(const Stop& stop) {
  auto count = static_cast<size_t>(options_.episodes);
  auto first = static_cast<uint64_t>(iteration_) * count;
  std::vector<Played> played(count);
  auto now = policy();
  parallel_for(count, options_.threads, [&](size_t k) {
    if (stop.must_end()) return;
    played[k] = play((first + k) % pool_.size(), *now, combine(seed_, first + k));
  });
  if (stop.must_end()) return {};
  auto turn = static_cast<uint64_t>(iteration_);
  auto nearby = labelled(turn % graphs_.size(), combine(seed_ ^ 2, turn));
  for (const Played& p : played) {
    if (p.episode.samples.empty()) continue;
    real_steps_ += p.episode.samples.size();
    starts_.keep(p.graph, p.episode.best, p.episode.moves);
  }
  LogRow row = learn(std::move(played), std::move(nearby));
  ++iteration_;
  return row;
}

LogRow PlannerAgent::learn(std::vector<Played>&& played, std::vector<ExpertSample>&& labelled) {
  std::vector<ExpertSample> samples = std::move(labelled);
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
  Rng rng(combine(seed_ ^ 1, static_cast<uint64_t>(iteration_)));
  ExpertReport r =
      expert_update(network_, rules_, adam_, samples, options_.update, rng, options_.threads);
  episodes = std::max(1.0, episodes);
  return {{"reward", saved / episodes},
          {"length", decisions / episodes},
          {"best_percent", percent / episodes},
          {"real_steps", static_cast<double>(real_steps_)},
          {"candidates", candidates / episodes},
          {"policy_loss", r.policy_loss},
          {"value_loss", r.value_loss},
          {"worth_loss", r.worth_loss},
          {"agreement", r.agreement},
          {"explained_variance", r.explained_variance}};
}

Checkpoint PlannerAgent::save() const {
  Checkpoint file = network_file(network_, kKind);
  nn::store(file, "adam", adam_, network_.parameters());
  file.counters["iteration"] = static_cast<uint64_t>(iteration_);
  file.counters["real_steps"] = real_steps_;
  file.counters["seed"] = seed_;
  starts_.save(file);
  return file;
}

Status PlannerAgent::load(const Checkpoint& file) {
  ASSIGN_OR_RETURN(network_, read_network(file, kKind));
  RETURN_IF_ERROR(nn::load(file, "adam", adam_, network_.parameters()));
  ASSIGN_OR_RETURN(auto iteration, counter(file, "iteration"));
  ASSIGN_OR_RETURN(real_steps_, counter(file, "real_steps"));
  ASSIGN_OR_RETURN(seed_, counter(file, "seed"));
  iteration_ = static_cast<int64_t>(iteration);
  return starts_.load(file);
}

std::unique_ptr<Policy> PlannerAgent::policy() const {
  return network_policy(network_, rules_, "planning agent");
}

}  // namespace regraft::rl

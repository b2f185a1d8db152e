#pragma once
// The agent that learns from its own planning (expert iteration) and from searches nearby.
#include "base/parallel.h"
#include "rl/environment/pool.h"
#include "rl/planner/demonstration.h"
#include "rl/planner/expert_update.h"
#include "rl/training/learner.h"
#include "rl/training/log.h"

namespace regraft::rl {

struct PlannerAgentOptions {
  NetworkOptions network;
  PlannerOptions planner{.gumbel_scale = 1};
  ExpertUpdateOptions update;
  EnvironmentOptions environment;
  int episodes = 4;  ///< of one iteration
  /// Windows that are searched in each planned state, and states of each iteration beside these;
  /// seed and threads are the agent's.
  LabelOptions labels{.states = 64, .centres = 4, .candidates = 100};
  /// Iterations that only imitate the search in windows and learn from searches nearby; later ones
  /// also plan.
  int64_t imitation = 180;
  size_t demonstrated = 12;                ///< graphs whose demonstrations an iteration learns from
  size_t demonstrated_states = 32;         ///< of each
  uint64_t demonstration_budget = 200000;  ///< candidates
  double from_kept = 0.3;    ///< part of the episodes that start at a cheap graph met before
  double from_random = 0.2;  ///< part that starts after random moves
  int threads = 1;
};

/// The same for any number of threads; what load() reads from save() goes on as if there had been
/// no break. Not thread-safe.
class PlannerAgent {
 public:
  /// All outlive this. REQUIRES: as EnvironmentPool.
  PlannerAgent(const std::vector<Graph>& graphs, const rewrite::RuleIndex& rules,
               const cost::CostModel& model, const PlannerAgentOptions& options, uint64_t seed);
  /// Plans episodes and learns from them. Ends early, changing nothing, when stopped.
  LogRow iterate(const Stop& stop);
  int64_t iterations() const { return learner_.iteration; }
  uint64_t real_steps() const { return learner_.real_steps; }
  /// Least cost met in a graph so far, in microseconds.
  double best(size_t graph) const { return learner_.starts.best(graph); }

  Checkpoint save() const { return learner_.save(kKind); }
  Status load(const Checkpoint& file) { return learner_.load(file, kKind); }
  std::unique_ptr<Policy> policy() const {
    return network_policy(learner_.network, learner_.rules, kKind);
  }
  Checkpoint policy_file() const { return network_file(learner_.network, kNetworkPolicy); }
  const Network& network() const { return learner_.network; }

 private:
  static constexpr const char* kKind = "planner";
  struct Played {
    size_t graph = 0;
    double started = 0, original = 0;
    Episode episode;  // its moves are from the original
  };
  Played play(size_t graph, const Policy& policy, uint64_t seed);
  std::vector<Played> plan_episodes(const Stop& stop);
  std::vector<ExpertSample> labelled(size_t graph, uint64_t seed) const;
  std::vector<ExpertSample> demonstrated();
  LogRow learn(std::vector<Played>&& played, std::vector<ExpertSample>&& samples);

  const std::vector<Graph>& graphs_;
  const rewrite::RuleIndex& index_;
  const cost::CostModel& model_;
  PlannerAgentOptions options_;
  EnvironmentPool pool_;
  Learner learner_;
  std::vector<Demonstration> shown_;  // by graph; made when first needed, the same each time
};

}  // namespace regraft::rl

#pragma once
// The agent that learns from its own planning (expert iteration) and from searches nearby.
#include "base/parallel.h"
#include "rl/demonstration.h"
#include "rl/expert_update.h"
#include "rl/log.h"
#include "rl/network_file.h"
#include "rl/pool.h"
#include "rl/starts.h"

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
  int64_t iterations() const { return iteration_; }
  uint64_t real_steps() const { return real_steps_; }
  /// Least cost met in a graph so far, in microseconds.
  double best(size_t graph) const { return starts_.best(graph); }

  Checkpoint save() const;
  Status load(const Checkpoint& file);
  std::unique_ptr<Policy> policy() const;
  Checkpoint policy_file() const { return network_file(network_, kNetworkPolicy); }
  const Network& network() const { return network_; }

 private:
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
  uint64_t seed_;
  RuleTable rules_;
  EnvironmentPool pool_;
  Network network_;
  nn::Adam<float> adam_;
  Starts starts_;
  std::vector<Demonstration> shown_;  // by graph; made when first needed, the same each time
  int64_t iteration_ = 0;
  uint64_t real_steps_ = 0;
};

}  // namespace regraft::rl

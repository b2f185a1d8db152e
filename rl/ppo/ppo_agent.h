#pragma once
// The model-free agent: PPO on the real environment.
#include "base/parallel.h"
#include "rl/environment/pool.h"
#include "rl/ppo/episode.h"
#include "rl/ppo/ppo.h"
#include "rl/training/learner.h"
#include "rl/training/log.h"

namespace regraft::rl {

/// Has episodes played by others: `count` of them from number `first` on, by an agent that is as
/// `agent` says. Each is what PpoAgent::episode gives.
using PlayElsewhere = std::function<Result<std::vector<std::string>>(const Checkpoint& agent,
                                                                     uint64_t first, size_t count)>;

struct PpoAgentOptions {
  NetworkOptions network;
  PpoOptions ppo;
  EnvironmentOptions environment;
  int episodes = 16;  ///< of one iteration
  double discount = 1, lambda = 0.95;
  double from_kept = 0.3;    ///< part of the episodes that start at a cheap graph met before
  double from_random = 0.2;  ///< part that starts after random moves
  int threads = 1;
  PlayElsewhere elsewhere;  ///< empty: episodes are played here
};

/// The same for any number of threads; what load() reads from save() goes on as if there had been
/// no break. Not thread-safe.
class PpoAgent {
 public:
  /// All outlive this. REQUIRES: as EnvironmentPool.
  PpoAgent(const std::vector<Graph>& graphs, const rewrite::RuleIndex& rules,
           const cost::CostModel& model, const PpoAgentOptions& options, uint64_t seed);
  /// Collects episodes and learns from them. Ends early, changing nothing, when stopped.
  LogRow iterate(const Stop& stop);
  /// An episode of the training, as bytes: a function of save() and its number.
  std::string episode(uint64_t number) { return to_bytes(play(number, encoded_rules())); }
  /// Why iterate() ended early, where that was not `stop`.
  const Status& failure() const { return failure_; }
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
  static constexpr const char* kKind = "ppo";
  PpoEpisode play(uint64_t number, std::shared_ptr<const nn::Matrix<float>> rules);
  std::shared_ptr<const nn::Matrix<float>> encoded_rules() const;
  Result<std::vector<PpoEpisode>> collect(uint64_t first, size_t count, const Stop& stop);
  LogRow learn(const std::vector<PpoEpisode>& episodes);

  PpoAgentOptions options_;
  EnvironmentPool pool_;
  Learner learner_;
  Status failure_;
};

}  // namespace regraft::rl

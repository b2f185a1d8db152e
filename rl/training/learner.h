#pragma once
// What agents that learn one network keep between iterations, and in files.
#include "rl/environment/starts.h"
#include "rl/network/network_file.h"
#include "rl/nn/adam.h"

namespace regraft::rl {

/// Of models, rules and costs: what was learned on others does not go on here.
uint64_t training_hash(const std::vector<Graph>& graphs, const rewrite::RuleIndex& rules,
                       const cost::CostModel& model);

struct Learner {
  Learner(const NetworkOptions& options, RuleTable table, Starts first_starts, uint64_t hash,
          uint64_t first_seed);
  uint64_t training;  ///< see training_hash
  uint64_t seed;
  RuleTable rules;
  Network network;
  nn::Adam<float> adam;
  Starts starts;
  int64_t iteration = 0;
  uint64_t real_steps = 0;
  uint64_t searched = 0;  ///< candidates of searches that it learned from

  /// A generator for this iteration; another for each purpose.
  Rng rng(uint64_t purpose) const;
  Checkpoint save(const std::string& kind) const;
  /// An Error says what does not fit.
  Status load(const Checkpoint& file, const std::string& kind);
};

}  // namespace regraft::rl

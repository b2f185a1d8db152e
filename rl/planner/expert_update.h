#pragma once
// Learning what experts say.
#include "rl/network/network.h"
#include "rl/nn/adam.h"
#include "rl/planner/expert.h"

namespace regraft::rl {

struct ExpertUpdateOptions {
  int epochs = 3;
  int minibatch = 128;  ///< samples
  int chunk = 16;       ///< samples on one tape
  double value_weight = 0.25, worth_weight = 0.25;
  double delta = 1;  ///< where losses of values and worths become linear
  double max_norm = 0.5;
  double learning_rate = 1e-3;
};

/// Means over all minibatches, before the steps; of the samples that have what is learned.
struct ExpertReport {
  double policy_loss = 0;  ///< Kullback-Leibler divergence from what the expert says
  double value_loss = 0, worth_loss = 0;
  double agreement = 0;           ///< part where the most probable actions are the same
  double explained_variance = 0;  ///< of the values, in the first epoch
  int updates = 0;
};

/// The same result for any number of threads. `rules`: those of the observations.
ExpertReport expert_update(Network& network, const RuleTable& rules, nn::Adam<float>& adam,
                           std::span<const ExpertSample> samples,
                           const ExpertUpdateOptions& options, Rng& rng, int threads);

}  // namespace regraft::rl

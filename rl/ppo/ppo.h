#pragma once
// Proximal policy optimisation with a clipped ratio (Schulman et al. 2017), and generalised
// advantages (Schulman et al. 2016).
#include <functional>
#include <span>

#include "base/rng.h"
#include "rl/nn/adam.h"
#include "rl/nn/tape.h"

namespace regraft::rl {

/// A step that was taken.
struct Sample {
  int32_t state = 0;    ///< what Evaluate knows it by
  int32_t action = 0;   ///< number among those that were allowed there
  float log_prob = 0;   ///< of the action, when it was taken
  float advantage = 0;  ///< any scale
  float target = 0;     ///< of the value
};

/// What a network says of samples now.
struct Evaluation {
  nn::Var log_probs;  ///< a column: of the allowed actions of one sample after the other
  /// Where each sample's actions begin in it, and the end of the last.
  std::vector<int32_t> first_action;
  nn::Var values;  ///< a column
};

/// Given numbers of samples. Called from several threads, each with its own tape.
using Evaluate = std::function<Evaluation(nn::Tape<float>&, std::span<const int32_t> samples)>;

struct PpoOptions {
  double clip = 0.2;  ///< of the ratio
  int epochs = 3;
  int minibatch = 128;  ///< samples
  int chunk = 64;       ///< samples on one tape
  double value_weight = 0.5;
  double value_delta = 1;   ///< where the loss of the value becomes linear
  double entropy = 0.01;    ///< of the entropy divided by that of even choice
  double max_norm = 0.5;    ///< of a gradient
  double target_kl = 0.02;  ///< updates end above 1.5 times this; 0: they do not
  double learning_rate = 2e-3;
};

/// Means over all minibatches that were looked at.
struct PpoReport {
  double policy_loss = 0, value_loss = 0;
  double entropy = 0;  ///< 1: even choice
  double kl = 0;       ///< from the policy that took the samples; of the last minibatch
  double clip_fraction = 0;
  double explained_variance = 0;  ///< of the targets by the values in the first epoch
  double first_deviation = 0;     ///< largest |ratio - 1| in the first minibatch of all
  int updates = 0;
  bool stopped_early = false;  ///< by target_kl
};

/// The same result for any number of threads. REQUIRES: samples.
PpoReport ppo_update(nn::Parameters<float>& parameters, nn::Adam<float>& adam,
                     std::span<const Sample> samples, const Evaluate& evaluate,
                     const PpoOptions& options, Rng& rng, int threads);

struct Advantages {
  std::vector<float> advantages, targets;  ///< by step
};

/// Of one episode, or a part of one. `values`: of the states where the steps were taken;
/// `bootstrap`: the value of the state after the last step, 0 when the episode ended there by
/// itself. REQUIRES: as many rewards as values.
Advantages gae(std::span<const float> rewards, std::span<const float> values, double bootstrap,
               double discount, double lambda);

}  // namespace regraft::rl

#pragma once
// How far what a world model imagines is from what happens.
#include "rl/world/dream.h"
#include "rl/world/world_model.h"

namespace regraft::rl {

/// After so many steps of which the dynamics model saw no real state, over all places in the
/// episodes where so many follow.
struct DriftAt {
  int depth = 0;
  size_t steps = 0;  ///< compared
  double mask_f1 = 0;
  double reward_error = 0;   ///< mean absolute, percent of the original's cost
  double latent_error = 0;   ///< root of the mean square of a number's error
  double latent_spread = 0;  ///< the same of the real numbers about their mean
  double end_accuracy =
      0;  ///< part of the steps where the model says rightly whether the episode ended
};

/// Sums of rewards in percent, imagined and real.
struct Scores {
  std::vector<double> imagined, real;
  double imagined_step = 0,
         real_step = 0;  ///< microseconds that one takes, on all threads; 0: none
};
double mean(const std::vector<double>& x);
double deviation(const std::vector<double>& x);  ///< of the sample; 0: fewer than two

struct DriftReport {
  std::vector<DriftAt> depths;
  /// Of whole episodes, on the same actions.
  Scores replayed;
  double replay_gap = 0;  ///< mean absolute difference of these
  /// Of the controller, drawing its actions, from the original graphs.
  Scores acted;
};

/// All but `acted`, along real episodes; at temperature tau.
DriftReport compare(const WorldModel& world, const std::vector<Trajectory>& episodes, double tau,
                    int depths, uint64_t seed);

}  // namespace regraft::rl

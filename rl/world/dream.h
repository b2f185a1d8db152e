#pragma once
// Episodes that a world model imagines.
#include "rl/ppo/ppo.h"
#include "rl/world/controller.h"
#include "rl/world/dynamics.h"

namespace regraft::rl {

/// Where a dream begins.
struct DreamStart {
  Eigen::RowVectorXf z, h, c;
  Offers offers;
  float saved = 0;    ///< percent
  int32_t depth = 0;  ///< of the episode
};

/// A state of a real episode, with what the dynamics model remembers there. `memory`:
/// Dynamics::recall of it.
DreamStart start_at(const Track& track, const Memory& memory, size_t step);

/// What is saved as a dream goes on, in percent: the sum of what the choices are told to save, but
/// not far from what the dynamics model says of the graph. So no circle of steps pays for ever.
struct Balance {
  float sum = 0, saved = 0;
  /// `whole`: Imagined::saved after the choice.
  void pay(const Offers& offers, const Choice& choice, float whole);
};

struct DreamOptions {
  int horizon = 15;        ///< steps
  double tau = 1;          ///< temperature of the dynamics model
  double discount = 0.97;  ///< below 1: what saves comes before what only shuffles
  double lambda = 0.95;
  /// The most probable rule and place instead of a draw.
  enum class Acting : uint8_t { Drawn, MostWanted } acting = Acting::Drawn;
};

/// The steps of all dreams, one dream after the other.
struct Dreams {
  nn::Matrix<float> z;  ///< a row for each step
  std::vector<Offers> offers;
  std::vector<Sample> samples;
  std::vector<double> gains;  ///< by dream: most that was saved beyond its start, percent
  double length = 0;          ///< mean
};

/// The controller acts in the dynamics model from these starts, on rules that the model says are
/// offered, until it stops, the model
/// says that the episode ends, or the horizon; then the controller's value stands for the rest.
/// The same for any number of threads. `slots`: those in use.
Dreams dream(const Dynamics& dynamics, const Controller& controller,
             std::span<const DreamStart> starts, int32_t slots, const DreamOptions& options,
             uint64_t seed, int threads);

/// What the controller says of steps of dreams, for ppo_update.
Evaluate evaluate_dreams(const Controller& controller, const Dreams& dreams);

/// The most probable rule, or to stop, and its most probable place: an index between first and
/// last of the columns.
int32_t most_wanted(const Controller::Output& o, const nn::Matrix<float>& log_probs, size_t state);

}  // namespace regraft::rl

#pragma once
// The seam between agents and those that follow them: what to do in a state.
#include <memory>

#include "base/rng.h"
#include "rl/environment/observation.h"

namespace regraft::rl {

template <class S>
class NetworkOf;
using Network = NetworkOf<float>;

/// What a policy says of a state.
struct Judgement {
  /// Log probabilities: of the matches in their order, then of stopping.
  std::vector<float> log_probs;
  /// What each match is worth: how much its neighbourhood can still be made cheaper beginning with
  /// it, in percent of the original's cost. Empty: the policy does not say.
  std::vector<float> worth;
  /// What is still to be saved from here, in percent of the original's cost.
  double value = 0;
};

/// Immutable; may be asked from several threads.
class Policy {
 public:
  virtual ~Policy() = default;
  virtual Judgement judge(const Observation& o) const = 0;
  /// One line.
  virtual std::string description() const = 0;
  /// The network that scores each match, where that is what it is; nullptr: it is something else.
  /// Such a policy can be followed without describing the whole graph anew, see follow.h.
  virtual const Network* network() const { return nullptr; }
};

/// All actions alike; the value is 0.
std::unique_ptr<Policy> uniform_policy();
/// Prefers what saves more, by the exact change of cost alone: the logit of a match is
/// `sharpness` times what it saves in percent, that of stopping is 0.
std::unique_ptr<Policy> cost_prior(double sharpness = 10);

/// Draws from log probabilities.
size_t sample(const std::vector<float>& log_probs, Rng& rng);
/// The most probable; of several the first.
size_t most_probable(const std::vector<float>& log_probs);

}  // namespace regraft::rl

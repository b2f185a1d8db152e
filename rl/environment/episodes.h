#pragma once
// What happened in the environment, kept as data.
#include <functional>

#include "rl/environment/environment.h"
#include "rl/environment/policy.h"

namespace regraft::rl {

/// The largest sum of the first rewards; of none at least.
double most_saved(const std::vector<float>& rewards);

/// An episode.
struct Trajectory {
  int32_t graph = 0;                      ///< the caller's number of the environment
  std::vector<Observation> observations;  ///< one more than actions: the last is of the end
  std::vector<Action> actions;
  std::vector<float> rewards;  ///< percent of the original's cost
  bool terminated = false;     ///< it ended by itself; otherwise by the limit of steps
  double least = 0;            ///< cost in microseconds of the cheapest graph
  double gain() const;         ///< sum of the rewards
};

/// An action of the environment as it stands.
using Choose = std::function<size_t(Environment&, Rng&)>;

/// How an agent tries things out.
struct Exploring {
  double stop = 0;        ///< probability
  double greed = 0;       ///< probability of a choice that prefers what saves, see cost_prior()
  int32_t locations = 1;  ///< of a rule; otherwise each rule with one alike, then each of these
};
Choose random_choice(const Exploring& how);
/// Draws from what the policy says. It outlives the result.
Choose drawn(const Policy& policy);
/// The most probable rule (or to stop), then its most probable place. Probabilities of a rule's
/// places are summed: many places that are alike are not less wanted than one.
size_t most_wanted(const Environment& env, const std::vector<float>& log_probs);
Choose most_wanted(const Policy& policy);

/// From the original to the end.
Trajectory run_episode(Environment& env, const Choose& choose, Rng& rng);
/// The episode in which these actions were taken; nullopt: one is not allowed where it comes.
std::optional<Trajectory> repeat_episode(Environment& env, const std::vector<Action>& actions);

}  // namespace regraft::rl

#pragma once
// What a network learns from planning (expert iteration: Anthony et al. 2017) and from searches
// nearby.
#include <optional>

#include "rl/planner/gumbel.h"
#include "rl/planner/scheduler.h"

namespace regraft::rl {

/// A state and what is to be said of it. Values are in percent of the original's cost.
struct ExpertSample {
  Observation observation;
  std::vector<float> policy;   ///< probabilities of all actions; empty: not known
  std::optional<float> value;  ///< what was saved from here on, at least 0; a lower bound
  Worths worths;               ///< may be empty
};

struct Episode {
  std::vector<ExpertSample> samples;         ///< in order
  double best = 0;                           ///< cost in microseconds of the cheapest graph met
  std::vector<rewrite::Move> moves;          ///< that lead to it, from where the environment began
  uint64_t simulations = 0, judgements = 0;  ///< see Plan
  uint64_t candidates = 0;                   ///< matches that were priced, for plans and for labels
};

/// Plans each decision from the present state on, until the episode is over. Graphs that planning
/// met count as reached. REQUIRES: the episode is not over.
Episode plan_episode(Environment& env, const Policy& policy, const PlannerOptions& options,
                     Rng& rng);
/// Likewise, with worths in each state: `labels` says of how many windows and how large.
Episode plan_episode(Environment& env, const Policy& policy, const PlannerOptions& options,
                     const LabelOptions& labels, Rng& rng);

/// Labels as samples of worths alone.
std::vector<ExpertSample> to_samples(std::vector<WindowLabel> labels);

}  // namespace regraft::rl

#pragma once
// Which neighbourhoods to search first: an order of windows that a policy gives, and what such a
// policy is trained with.
#include "rewrite/windows/windows.h"
#include "rl/environment/environment.h"
#include "rl/environment/policy.h"

namespace regraft::rl {

struct ScheduleOptions {
  /// Of the noise that is added to worths, in percent of the cost.
  double temperature = 0;
  /// Centres that are worth less come last, in random order.
  double threshold = -HUGE_VAL;
  double original = 0;  ///< cost in microseconds that percentages are of; 0: the present cost
  uint64_t seed = 0;    ///< of the noise
};

/// A centre is worth what the best of the matches is worth that it is a node of. Where the policy
/// does not say, log probabilities stand for worths. Asks the policy once for each order.
rewrite::WindowOrder window_order(std::shared_ptr<const Policy> policy,
                                  ScheduleOptions options = {});

/// What some matches of an observation are worth: what the cheapest graph saves that a search
/// nearby found beginning with them, in percent of the original's cost; at least 0.
struct Worths {
  std::vector<int32_t> match;  ///< index in the observation, ascending
  std::vector<float> worth;
  std::vector<char> exact;  ///< the search ended on its own; otherwise it is a lower bound
  uint64_t candidates = 0;  ///< that the searches priced
};
struct WindowLabel {
  Observation observation;
  Worths worths;
};

struct LabelOptions {
  int states = 16;
  int centres = 8;            ///< of windows, in each state
  int radius = 2;             ///< of windows, in edges
  uint64_t candidates = 200;  ///< for each window
  int walk = 8;               ///< at most so many random moves lead to a state
  uint64_t seed = 0;
  int threads = 1;
};

/// Searches around random centres of the present state, and leaves the environment there. A first
/// move is credited with the graphs that it lies on a shortest way to, among those that were met;
/// so it is not with what others save and it has no part in. Of several windows the best counts.
Worths search_worths(Environment& env, const LabelOptions& options, Rng& rng);

/// States are random walks from the original and, every other one, from where greedy descent leads.
/// The answer does not depend on `threads`. Rules and model as in Environment.
std::vector<WindowLabel> window_labels(const Graph& g, const rewrite::RuleIndex& rules,
                                       const cost::CostModel& model,
                                       const EnvironmentOptions& environment,
                                       const LabelOptions& options);

}  // namespace regraft::rl

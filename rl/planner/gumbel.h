#pragma once
// Planning on the exact engine: Gumbel AlphaZero (Danihelka et al. 2022) for one player, where what
// a move saves is known and a graph may be reached in several ways.
#include "rl/environment/environment.h"
#include "rl/environment/policy.h"

namespace regraft::rl {

struct PlannerOptions {
  int simulations = 16;
  int considered = 16;      ///< actions that are tried at first
  int depth = 16;           ///< moves
  double c_visit = 50;      ///< of the weight of values; see the paper
  double c_scale = 0.1;     ///< likewise
  double gumbel_scale = 0;  ///< of the noise of the choice; 1 in training
};

/// What is best to do in a state. Values are in percent of the original's cost.
struct Plan {
  size_t action = 0;            ///< as Environment::step takes it
  std::vector<float> improved;  ///< probabilities of all actions, a better policy
  std::vector<int32_t> visits;  ///< of all actions
  double value = 0;             ///< of the state under the better policy
  double best = 0;              ///< cost in microseconds of the cheapest graph met, or the present
  std::vector<rewrite::Move> moves;  ///< that lead to it from the present one
  uint64_t simulations = 0;
  uint64_t judgements = 0;  ///< calls of the policy
  uint64_t candidates = 0;  ///< matches that were priced
};

/// Leaves the environment as it was. The policy is asked once for each graph that is met first, the
/// present one included. REQUIRES: the episode is not over.
Plan plan(Environment& env, const Policy& policy, const PlannerOptions& options, Rng& rng);

/// For each simulation, how often the action that it tries was tried before, so that the better
/// half of the actions is tried on (sequential halving).
std::vector<int32_t> halving_schedule(int considered, int simulations);

/// Of a Gumbel distribution: added to logits, the greatest is a sample of their softmax.
double gumbel(Rng& rng);

}  // namespace regraft::rl

#pragma once
// What the environment's rewards are made of.
#include "cli/support/profiles.h"
#include "rl/environment/environment.h"

namespace regraft::cli {

/// Sets what the options' reward asks for: timings with oneDNN on this machine, or peaks of
/// activations. `cost` outlives the options. An Error when the graph cannot be timed.
Status prepare_reward(rl::EnvironmentOptions& options, const ChosenCost& cost, const Graph& graph);

}  // namespace regraft::cli

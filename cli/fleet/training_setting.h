#pragma once
// What an agent is trained on, as the command line says it.
#include "cli/support/commands.h"
#include "cli/support/profiles.h"
#include "cli/support/rewards.h"
#include "rl/environment/environment.h"

namespace regraft::cli {

struct TrainingSetting {
  std::vector<Graph> graphs, validation;
  rewrite::RuleIndex rules;
  ChosenCost cost;
  /// The graphs that policies are evaluated on.
  const std::vector<Graph>& evaluated() const { return validation.empty() ? graphs : validation; }
};
/// Reads models, rules and prices.
Result<TrainingSetting> read_training_setting(const TrainFlags& flags);

/// What all agents that act on the graph itself have in common.
template <class Options>
Result<Options> agent_options(const TrainFlags& flags, const TrainingSetting& s) {
  Options options;
  options.threads = thread_count(flags.common);
  options.environment.reward = *rl::reward_named(flags.reward);
  options.network.factorised = flags.heads == "factorised";
  options.network.hide_cost = flags.hide_cost;
  if (flags.episodes > 0) options.episodes = flags.episodes;
  RETURN_IF_ERROR(prepare_reward(options.environment, s.cost, s.graphs[0]));
  return options;
}

}  // namespace regraft::cli

// Trains an agent on models and writes its policy.
#include "rl/train.h"

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/model_files.h"
#include "cli/profiles.h"
#include "cli/report.h"
#include "cli/rule_set.h"
#include "io/model.h"
#include "rl/ppo_agent.h"

namespace regraft::cli {
namespace {

struct Setting {
  std::vector<Graph> graphs;
  rewrite::RuleIndex rules;
  ChosenCost cost;
};

Result<Setting> prepare(const TrainFlags& flags) {
  Setting s;
  ASSIGN_OR_RETURN(s.rules, load_rules({flags.rules, {}, false}));
  ASSIGN_OR_RETURN(s.cost, choose_cost(flags.cost));
  ASSIGN_OR_RETURN(auto files, model_files(flags.graphs));
  for (const std::string& file : files) {
    ASSIGN_OR_RETURN(auto imported, io::load(file));
    s.graphs.push_back(std::move(imported.graph));
  }
  return s;
}

template <class Agent>
Status run(Agent& agent, const TrainFlags& flags) {
  rl::TrainOptions options;
  options.iterations = flags.iterations;
  options.state = flags.state.empty() ? flags.out + ".state" : flags.state;
  options.log = flags.log;
  options.verbosity = flags.common.verbosity;
  Stop stop(flags.common.seconds);
  ASSIGN_OR_RETURN(auto report, rl::train(agent, options, stop));
  RETURN_IF_ERROR(rl::write_checkpoint(flags.out, agent.policy_file()));
  if (flags.common.verbosity == Verbosity::Quiet) return {};
  Table table{{{"last iteration", ""}}};
  for (const auto& [name, value] : report.last)
    table.rows.push_back({name, fmt::format("{:.4g}", value)});
  fmt::print("{}", to_string(table));
  fmt::print("{} iterations, {} of them before; wrote {}\n", report.iterations, report.before,
             flags.out);
  if (!report.ended)
    fmt::print("stopped before the end; the same command goes on from {}\n", options.state);
  return {};
}

Status train_ppo(const TrainFlags& flags, const Setting& s) {
  rl::PpoAgentOptions options;
  options.threads = thread_count(flags.common);
  options.environment.reward = *rl::reward_named(flags.reward);
  options.network.factorised = flags.heads == "factorised";
  if (flags.episodes > 0) options.episodes = flags.episodes;
  rl::PpoAgent agent(s.graphs, s.rules, *s.cost.model, options, flags.common.seed);
  return run(agent, flags);
}

}  // namespace

int run_train(const TrainFlags& flags) {
  auto setting = prepare(flags);
  if (!setting) return bad_input(setting.error());
  Status done = train_ppo(flags, *setting);
  return done ? kDone : bad_input(done.error());
}

}  // namespace regraft::cli

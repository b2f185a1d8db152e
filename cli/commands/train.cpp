// Trains an agent on models and writes its policy.
#include "rl/training/train.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files/output_file.h"
#include "base/host.h"
#include "base/printable.h"
#include "cli/fleet/episode_tasks.h"
#include "cli/support/commands.h"
#include "cli/support/model_files.h"
#include "cli/support/report.h"
#include "cli/support/rule_set.h"
#include "rewrite/search/greedy.h"
#include "rl/planner/planner_agent.h"
#include "rl/ppo/ppo_agent.h"
#include "rl/search.h"
#include "rl/world/world_model_agent.h"

namespace regraft::cli {
namespace {

using Setting = TrainingSetting;

/// Empty: there is no place for one.
std::string state_file(const TrainFlags& flags) {
  if (!flags.state.empty()) return flags.state;
  auto policy = identity_of(flags.out);
  bool is_file = !policy || (policy->regular && policy != identity_of("-"));
  return is_file ? flags.out + ".state" : "";
}

/// All that a training writes beside its state and its log, opened before it begins.
struct TrainOutputs {
  OutputFile policy, report;
};

Result<TrainOutputs> open_outputs(const TrainFlags& flags) {
  ASSIGN_OR_RETURN(auto models, model_files(flags.graphs));
  ASSIGN_OR_RETURN(auto judged, model_files(flags.validation));
  std::vector<NamedFile> inputs = with_data("a model", models);
  for (auto& file : with_data("a model", judged)) inputs.push_back(file);
  for (auto& file : named("a rule file", rule_files(flags.rules))) inputs.push_back(file);
  if (flags.cost.ends_with(".profile")) inputs.push_back({"the profile", flags.cost});
  RETURN_IF_ERROR(require_distinct(inputs, {{"the policy", flags.out},
                                            {"the state", state_file(flags)},
                                            {"the log", flags.log},
                                            {"the report", flags.common.json}}));
  RETURN_IF_ERROR(require_regular(state_file(flags)));
  for (const std::string& kept : {state_file(flags), flags.log}) {
    auto writable = OutputFile::open(kept);
    if (!writable) return writable.error();
  }
  ASSIGN_OR_RETURN(auto policy, OutputFile::open(flags.out));
  ASSIGN_OR_RETURN(auto report, OutputFile::open(flags.common.json));
  return TrainOutputs{std::move(policy), std::move(report)};
}

/// All that decides what is learned, and can be said anew when a training goes on.
std::map<std::string, std::string> settings_of(const TrainFlags& flags) {
  return {{"--seed", std::to_string(flags.common.seed)},
          {"--reward", flags.reward},
          {"--heads", flags.heads},
          {"--episodes", std::to_string(flags.episodes)},
          {"--locations", std::to_string(flags.locations)},
          {"--hide-cost", flags.hide_cost ? "yes" : "no"}};
}

/// By how many percent of the original's cost a search changes it, as a mean over the graphs.
double change_by(const rewrite::Searcher& searcher, const std::vector<Graph>& graphs,
                 const Setting& s, const TrainFlags& flags, const Stop& stop) {
  std::vector<double> percent(graphs.size());
  rewrite::SearchOptions options;
  options.seed = flags.common.seed;
  parallel_for(graphs.size(), thread_count(flags.common), [&](size_t k) {
    auto report = searcher.search(graphs[k], s.rules, *s.cost.model, options, stop);
    percent[k] = 100 * (report.cost_after / std::max(report.cost_before, 1e-9) - 1);
  });
  return rl::mean(percent);
}

/// What the policy does by itself, beside greedy descent. Without a policy the columns are empty.
rl::LogRow evaluation(std::shared_ptr<const rl::Policy> policy, double greedy, const Setting& s,
                      const TrainFlags& flags, const Stop& stop) {
  const double none = std::nan("");
  double alone = none;
  if (policy) {
    rl::PolicySearch search(std::move(policy), rl::PolicyMode::Alone);
    alone = change_by(search, s.evaluated(), s, flags, stop);
    if (stop.must_end()) alone = none;  // cut off
  }
  return {{"alone_percent", alone}, {"greedy_percent", std::isnan(alone) ? none : greedy}};
}

/// What an agent that others helped says of them.
template <class Agent>
Status failure_of(const Agent& agent) {
  if constexpr (requires { agent.failure(); }) return agent.failure();
  return {};
}

/// Trains.
template <class Agent>
Result<rl::TrainReport> run(Agent& agent, const TrainFlags& flags, const Setting& s,
                            const Stop& stop) {
  rl::TrainOptions options;
  options.iterations = flags.iterations;
  options.state = state_file(flags);
  options.log = flags.log;
  options.verbosity = flags.common.verbosity;
  options.settings = settings_of(flags);
  options.evaluate_every = flags.evaluate_every;
  if (flags.evaluate_every > 0) {
    double greedy = change_by(rewrite::Greedy(), s.evaluated(), s, flags, stop);
    options.evaluate = [&, greedy](std::shared_ptr<const rl::Policy> policy) {
      return evaluation(std::move(policy), greedy, s, flags, stop);
    };
  }
  ASSIGN_OR_RETURN(auto report, rl::train(agent, options, stop));
  if (report.iterations > 0) return report;
  RETURN_IF_ERROR(failure_of(agent));
  RETURN_IF_ERROR(report.kept);
  return error(flags.out + ": not written, as no iteration came to its end");
}

/// What the report says of any agent.
nlohmann::json to_json(const rl::TrainReport& report, const Setting& s) {
  nlohmann::json told = {{"iterations", report.iterations},
                         {"iterations_before", report.before},
                         {"ended", report.ended},
                         {"profile", to_json(used_profile(s.cost))}};
  for (const auto& [name, value] : report.last)
    if (!std::isnan(value)) told["last"][name] = value;
  return told;
}

void print_report(const rl::TrainReport& report, const TrainFlags& flags, const Setting& s) {
  Table table{{{"last iteration", ""}}};
  for (const auto& [name, value] : report.last)
    if (!std::isnan(value)) table.rows.push_back({name, fmt::format("{:.4g}", value)});
  fmt::print(results(), "{}", to_string(table));
  fmt::print(results(), "profile: {}\n", printable(to_string(used_profile(s.cost))));
  fmt::print(results(), "{} iterations, {} of them before; wrote {}\n", report.iterations,
             report.before, flags.out);
  if (report.ended) return;
  std::string state = state_file(flags);
  fmt::print(results(), "stopped before the end{}\n",
             state.empty() ? "" : "; the same command goes on from " + state);
}

/// Writes the policy and the report, and says what was done. An Error also where the log or the
/// state could not be written: what was learned is kept all the same.
template <class Agent>
Status finish(Agent& agent, const rl::TrainReport& report, const nlohmann::json& told,
              const TrainFlags& flags, const Setting& s, TrainOutputs& outputs) {
  RETURN_IF_ERROR(rl::write_checkpoint(outputs.policy, agent.policy_file()));
  RETURN_IF_ERROR(outputs.report.write(to_text(told, 2)));
  RETURN_IF_ERROR(commit_all({&outputs.policy, &outputs.report}));
  if (flags.common.verbosity == Verbosity::Normal) print_report(report, flags, s);
  RETURN_IF_ERROR(report.kept);
  return failure_of(agent);
}

Status no_fleet(const TrainFlags& flags) {
  return flags.fleet.store.empty() ? Status()
                                   : error("--store: episodes of ppo only, not of " + flags.agent);
}

Status train_ppo(const TrainFlags& flags, const Setting& s, TrainOutputs& outputs) {
  ASSIGN_OR_RETURN(auto options, agent_options<rl::PpoAgentOptions>(flags, s));
  Stop stop(flags.common.seconds);
  ASSIGN_OR_RETURN(auto fleet, FleetRun::begin(flags.fleet, flags.common));
  if (fleet) {
    ASSIGN_OR_RETURN(options.elsewhere, play_by_fleet(*fleet, flags, stop));
  }
  rl::PpoAgent agent(s.graphs, s.rules, *s.cost.model, options, flags.common.seed);
  ASSIGN_OR_RETURN(auto report, run(agent, flags, s, stop));
  RETURN_IF_ERROR(finish(agent, report, to_json(report, s), flags, s, outputs));
  if (fleet && flags.common.verbosity == Verbosity::Normal)
    fmt::print(results(), "{}", fleet->summary());
  return {};
}

Status train_planner(const TrainFlags& flags, const Setting& s, TrainOutputs& outputs) {
  RETURN_IF_ERROR(no_fleet(flags));
  if (flags.reward != "change") return error("--reward: a planner learns what matches save only");
  ASSIGN_OR_RETURN(auto options, agent_options<rl::PlannerAgentOptions>(flags, s));
  rl::PlannerAgent agent(s.graphs, s.rules, *s.cost.model, options, flags.common.seed);
  ASSIGN_OR_RETURN(auto report, run(agent, flags, s, Stop(flags.common.seconds)));
  return finish(agent, report, to_json(report, s), flags, s, outputs);
}

/// Percent that was saved, imagined and real, of each temperature.
nlohmann::json to_json(const std::vector<rl::SweepPoint>& sweep) {
  auto j = nlohmann::json::array();
  for (const rl::SweepPoint& p : sweep)
    j.push_back({{"tau", p.tau},
                 {"imagined_mean", p.imagined},
                 {"imagined_std", p.imagined_deviation},
                 {"real_mean", p.real},
                 {"real_std", p.real_deviation}});
  return j;
}

nlohmann::json to_json(const rl::DriftReport& drift) {
  nlohmann::json j = {{"replay_gap", drift.replay_gap},
                      {"imagined_mean", rl::mean(drift.acted.imagined)},
                      {"imagined_std", rl::deviation(drift.acted.imagined)},
                      {"real_mean", rl::mean(drift.acted.real)},
                      {"real_std", rl::deviation(drift.acted.real)},
                      {"imagined_step_us", drift.acted.imagined_step},
                      {"real_step_us", drift.acted.real_step}};
  for (const rl::DriftAt& d : drift.depths)
    j["depths"].push_back({{"depth", d.depth},
                           {"steps", d.steps},
                           {"mask_f1", d.mask_f1},
                           {"reward_error", d.reward_error},
                           {"latent_error", d.latent_error},
                           {"latent_spread", d.latent_spread},
                           {"end_accuracy", d.end_accuracy}});
  return j;
}

Status train_world_model(const TrainFlags& flags, const Setting& s, TrainOutputs& outputs) {
  constexpr int kSweepUpdates = 40;
  RETURN_IF_ERROR(no_fleet(flags));
  auto options = rl::WorldModelAgentOptions();
  options.threads = thread_count(flags.common);
  if (flags.episodes > 0) options.episodes = flags.episodes;
  options.model.dynamics.locations = flags.locations;
  if (flags.reward != "change") return error("--reward: a world model predicts 'change' only");
  if (flags.heads != "matches") return error("--heads: a world model has heads of its own");
  if (flags.hide_cost) return error("--hide-cost: a world model learns from what matches save");
  rl::WorldModelAgent agent(s.graphs, s.rules, *s.cost.model, options, flags.common.seed);
  ASSIGN_OR_RETURN(auto report, run(agent, flags, s, Stop(flags.common.seconds)));
  nlohmann::json j = to_json(report, s);
  if (flags.common.json.empty()) return finish(agent, report, j, flags, s, outputs);
  j["real_steps"] = agent.real_steps();
  j["dream_steps"] = agent.dream_steps();
  j["drift"] = to_json(agent.drift(8, options.dream.tau, flags.common.seed + 1));
  if (!flags.sweep.empty())
    j["sweep"] = to_json(agent.sweep(flags.sweep, flags.sweep_seeds, kSweepUpdates, Stop()));
  return finish(agent, report, j, flags, s, outputs);
}

struct Row {
  std::string_view name;
  Status (*train)(const TrainFlags&, const Setting&, TrainOutputs&);
};
constexpr Row kAgents[] = {
    {"ppo", train_ppo},
    {"planner", train_planner},
    {"world-model", train_world_model},
};

}  // namespace

std::vector<std::string> agent_names() {
  std::vector<std::string> names;
  for (const Row& row : kAgents) names.emplace_back(row.name);
  return names;
}

int run_train(const TrainFlags& flags) {
  auto setting = read_training_setting(flags);
  if (!setting) return bad_input(setting.error());
  auto outputs = open_outputs(flags);
  if (!outputs) return bad_input(outputs.error());
  for (const Row& row : kAgents) {
    if (row.name != flags.agent) continue;
    Status done = row.train(flags, *setting, *outputs);
    if (done || !Stop::was_interrupted()) return done ? kDone : bad_input(done.error());
    tell(done.error().message);
    return kInterrupted;
  }
  return kUsage;
}

}  // namespace regraft::cli

#include "cli/options/options.h"

#include "cli/options/shared.h"
#include "rl/environment/environment.h"

namespace regraft::cli {

void add_train(CLI::App& root, TrainFlags& f, int& code) {
  auto* app = root.add_subcommand("train", "train an agent that chooses rewrites");
  app->add_option("--graphs", f.graphs, "ONNX models, or folders of them")->required();
  app->add_option("-o,--out", f.out, "file for the policy")->required();
  app->add_option("--agent", f.agent, "how it learns")
      ->check(one_of(agent_names()))
      ->capture_default_str();
  app->add_option("--iterations", f.iterations, "of acting and learning")
      ->check(CLI::Range(1, 1000000000))
      ->capture_default_str();
  app->add_option("--episodes", f.episodes, "of an iteration; 0: the agent's usual")
      ->check(CLI::Range(0, 1000000));
  app->add_option("--reward", f.reward, "what a step is worth")
      ->check(one_of(rl::reward_names()))
      ->capture_default_str();
  app->add_option("--heads", f.heads, "matches: one choice; factorised: a rule, then a location")
      ->check(one_of({"matches", "factorised"}))
      ->capture_default_str();
  app->add_flag("--hide-cost", f.hide_cost,
                "ppo and planner: the network does not see what matches save");
  app->add_option("--validation", f.validation,
                  "ONNX models, or folders of them, to evaluate the policy on; default: --graphs");
  app->add_option("--evaluate-every", f.evaluate_every,
                  "iterations between evaluations of the policy by itself; 0: none")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app->add_option("--locations", f.locations,
                  "world-model: locations of a rule that it tells apart; the environment has 200")
      ->check(CLI::Range(1, 200))
      ->capture_default_str();
  app->add_option("--sweep", f.sweep,
                  "world-model, with --json: at the end train controllers at these temperatures")
      ->delimiter(',')
      ->check(kPositive);
  app->add_option("--sweep-seeds", f.sweep_seeds, "controllers at each temperature")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app->add_option("--state", f.state,
                  "file that a stopped run goes on from; default: OUT.state, or none where OUT is "
                  "no file")
      ->check(kKeptFile);
  app->add_option("--log", f.log, "file for a line of comma-separated numbers an iteration")
      ->check(kKeptFile);
  app->add_option("--rules", f.rules, "rule files; default: the shipped ones");
  app->add_option("--cost", f.cost, "cost model")->check(kCost)->capture_default_str();
  add_fleet(*app, f.fleet);
  add_common(*app, f.common);
  add_time(*app, f.common);
  app->callback([&, app] {
    for (const char* option : {"--locations", "--sweep", "--sweep-seeds"})
      if (app->count(option) > 0 && f.agent != "world-model")
        throw CLI::RequiresError(option, "--agent world-model");
    if (!f.sweep.empty() && f.common.json.empty()) throw CLI::RequiresError("--sweep", "--json");
    code = run_train(f);
  });
}

void add_learn_rules(CLI::App& root, LearnRulesFlags& f, int& code) {
  auto* app = root.add_subcommand(
      "learn-rules", "compose rules of what searches do beyond greedy descent, and prove them");
  app->add_option("--graphs", f.graphs, "ONNX models, or folders of them")->required();
  app->add_option("-o,--out", f.out, "file of the proved rules")->required();
  app->add_option("--rules", f.rules, "rule files; default: the shipped ones");
  app->add_option("--cost", f.cost, "cost model")->check(kCost)->capture_default_str();
  app->add_option("--budget", f.budget, "candidate graphs that each searcher evaluates")
      ->check(kPositive)
      ->check(kWhole)
      ->capture_default_str();
  app->add_option("--count", f.count, "rules to keep at most")
      ->check(kPositive)
      ->check(kWhole)
      ->capture_default_str();
  app->add_option("--choose", f.choose,
                  "paying: what pays on other models; frequent, random: to compare with")
      ->check(one_of({"paying", "frequent", "random"}))
      ->capture_default_str();
  app->add_option("--propose", f.propose,
                  "also write a network that proposes macros, for optimize --propose");
  add_common(*app, f.common);
  add_time(*app, f.common);
  add_memory(*app, f.common, kMemory);
  app->callback([&] { code = run_learn_rules(f); });
}

void add_bench(CLI::App& root, BenchFlags& f, int& code) {
  auto* bench =
      root.add_subcommand("bench", "compare ways of searching, or runtimes")->require_subcommand(1);
  auto* app = bench->add_subcommand("learn", "policies against searches that learned nothing");
  app->add_option("--graphs", f.graphs, "ONNX models, or folders of them")->required();
  app->add_option("--policy", f.policies,
                  "NAME=FILE of a policy; the same name again: another seed of training");
  app->add_option("--methods", f.methods,
                  "names, POLICY for all its modes, or /MODE for all policies; default: all");
  app->add_option("--budgets", f.budgets, "candidate graphs at which to compare")
      ->check(kPositive)
      ->check(kWhole)
      ->capture_default_str();
  app->add_option("--seconds", f.seconds, "seconds at which to compare")
      ->check(kPositive)
      ->capture_default_str();
  app->add_option("--cap", f.cap, "seconds for the largest of the budgets")
      ->check(kPositive)
      ->capture_default_str();
  app->add_option("--search-seeds", f.search_seeds, "runs of each search that draws numbers")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app->add_option("--expansions", f.expansions, "graphs that backtracking expands to be reached")
      ->check(kWhole)
      ->capture_default_str();
  app->add_option("--expanding", f.expanding, "seconds that this may take at most")
      ->check(kPositive)
      ->capture_default_str();
  app->add_option("--rules", f.rules, "rule files; default: the shipped ones");
  app->add_option("--cost", f.cost, "cost model")->check(kCost)->capture_default_str();
  app->add_option("--kept", f.kept,
                  "file of runs of this build; those that are there are not done again");
  app->add_option("--seed", f.common.seed, "first seed of searches")
      ->check(kWhole)
      ->capture_default_str();
  app->add_option("--json", f.common.json, "write a report for machines to this file (-: stdout)");
  app->add_flag_callback(
      "-q,--quiet", [&f] { f.common.verbosity = Verbosity::Quiet; }, "print nothing");
  app->callback([&] { code = run_bench_learn(f); });
}

void add_bench_runtimes(CLI::App& root, RuntimesFlags& f, int& code) {
  auto* app = root.get_subcommand("bench")->add_subcommand(
      "runtimes",
      "time a model in every runtime that is here, as it is and optimised for each, in turn");
  app->add_option("model", f.model, "ONNX model")->required();
  app->add_flag("--no-measure", f.no_measure, "optimise by price alone");
  app->add_option("--measure-time", f.seconds, "seconds of timing, all together")
      ->check(kPositive)
      ->capture_default_str();
  add_common(*app, f.common);
  add_time(*app, f.common);
  app->callback([&] { code = run_bench_runtimes(f); });
}

void add_bench_measured(CLI::App& root, MeasuredFlags& f, int& code) {
  auto* app = root.get_subcommand("bench")->add_subcommand(
      "measured", "ways of choosing which graph to time, replayed on graphs that were all timed");
  app->add_option("pools", f.pools, "files of bench/measured/run_measured.py")->required();
  app->add_option("--budgets", f.budgets, "measurements after which to compare")
      ->check(kPositive)
      ->capture_default_str();
  app->add_option("--seeds", f.seeds, "replays of each way, with other rounds")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  add_common(*app, f.common);
  app->callback([&] { code = run_bench_measured(f); });
}

}  // namespace regraft::cli

// The command line.
#include <cstdio>
#include <cstdlib>
#include <new>

#include "base/parallel.h"
#include "base/printable.h"
#include "cli/options/optimize.h"
#include "cli/options/shared.h"
#include "cli/options/validate.h"
#include "io/model.h"
#include "rl/environment/environment.h"

namespace {

using namespace regraft::cli;

void add_generate(CLI::App& root, GenerateFlags& f, int& code) {
  auto* app = root.add_subcommand(
      "generate", "enumerate operator subgraphs and pair those that compute the same");
  app->add_option("--ops", f.ops, "operator set")->capture_default_str();
  app->add_option("--max-size", f.max_size, "operators on a side")
      ->check(CLI::Range(1, 5))
      ->capture_default_str();
  app->add_option("-o,--out", f.out, "file of candidate rules")->required();
  add_memory(*app, f.common, "GB that the process may hold before enumeration stops cleanly");
  app->add_option("--audit", f.audit,
                  "Draw so many random pairs of equal terms and derive them from the candidates");
  app->add_option("--checkpoint", f.checkpoint,
                  "file to save progress in; a run that finds it there goes on from it");
  add_common(*app, f.common);
  add_time(*app, f.common);
  app->callback([&] { code = run_generate(f); });
}

void add_verify(CLI::App& root, VerifyFlags& f, int& code) {
  auto* app = root.add_subcommand(
      "verify", "prove or refute the rules of a file, whatever it claims of them");
  app->add_option("rules", f.in, "rule file, or TASO's (graph_subst.pb)")->required();
  app->add_option("-o,--out", f.out, "file of the proved rules");
  app->add_option("--cache", f.cache,
                  "file to keep verdicts in; a run that finds it there judges only what is new");
  app->add_flag_callback(
      "--no-conditions", [&f] { f.find_conditions = false; },
      "refute what does not hold as it stands, without looking for a condition");
  add_common(*app, f.common);
  add_time(*app, f.common);
  add_memory(*app, f.common, kMemory);
  app->callback([&] { code = run_verify(f); });
}

void add_check(CLI::App& root, CheckFlags& f, CheckFlags& round, int& code) {
  auto* app = root.add_subcommand(
      "check", "compare two models on random inputs, or replay a certificate or a counterexample");
  app->add_option("a", f.a, "ONNX model; with --rule a report of verify --json")->required();
  auto* b = app->add_option("b", f.b, "ONNX model");
  auto* rule =
      app->add_option("--rule", f.rule, "evaluate the counterexample of this rule")->excludes(b);
  auto* certificate =
      app->add_option("--certificate", f.certificate,
                      "replay this certificate of optimize: it must lead from a to b")
          ->needs(b)
          ->excludes(rule);
  app->add_option("--validation", f.validation,
                  "prove once more what this certificate of validate says of a and b")
      ->needs(b)
      ->excludes(rule)
      ->excludes(certificate);
  app->add_flag("--prove", f.prove, "prove the certificate's rules anew")->needs(certificate);
  app->add_option("--runs", f.runs, "random inputs to try")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app->add_option("--on", f.check_on,
                  "reference: in double precision; a runtime: in float32, by its kernels")
      ->check(CLI::IsMember(places_to_check()))
      ->capture_default_str();
  add_common(*app, f.common);
  add_time(*app, f.common);
  add_memory(*app, f.common, kMemory);
  app->callback([&f, &code] {
    if (f.b.empty() && f.rule.empty()) throw CLI::RequiredError("b or --rule");
    code = run_check(f);
  });
  auto* trip = root.add_subcommand("roundtrip", "read a model and write it back")->group("");
  trip->add_option("in", round.a)->required();
  trip->add_option("out", round.b)->required();
  trip->callback([&] { code = run_roundtrip(round); });
}

void add_rules(CLI::App& root, RulesFlags& f, int& code) {
  auto* app = root.add_subcommand("rules", "look into a rule file")->require_subcommand(1);
  auto* show = app->add_subcommand("show", "print its rules");
  show->add_option("file", f.file, "rule file")->required();
  show->callback([&] { code = run_rules_show(f); });
  auto* stats = app->add_subcommand("stats", "count its rules");
  stats->add_option("file", f.file, "rule file")->required();
  stats->add_option("--json", f.common.json, "write the counts to this file (-: stdout)");
  stats->callback([&] { code = run_rules_stats(f); });
}

void add_rules_export(CLI::App& root, ExportFlags& f, int& code) {
  auto* app = root.get_subcommand("rules")->add_subcommand(
      "export", "write proved rules in the format of another program, those that it can express");
  app->add_option("--taso", f.in, "rule file to write as TASO's protobuf")->required();
  app->add_option("-o,--out", f.out, "graph_subst.pb")->required();
  app->callback([&] { code = run_rules_export(f); });
}

void add_rules_atlas(CLI::App& root, AtlasFlags& f, int& code) {
  auto* app = root.get_subcommand("rules")->add_subcommand(
      "atlas", "write a site of the rules: a page for each, with drawings, proof and prices");
  app->add_option("-o,--out", f.out, "folder for the site; made where it is not there")->required();
  app->add_option("--rules", f.rules, "rule files; default: the shipped ones");
  app->add_option("--court", f.court, "file of bench/court: which tools apply which rule");
  app->add_flag_callback(
      "-q,--quiet", [&f] { f.common.verbosity = regraft::Verbosity::Quiet; }, "print nothing");
  app->add_option("--threads", f.common.threads, "threads; 0: all cores")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app->callback([&] { code = run_rules_atlas(f); });
}

void add_rules_work(CLI::App& root, DeriveFlags& d, ImportFlags& i, int& code) {
  auto* rules = root.get_subcommand("rules");
  auto* derive = rules->add_subcommand(
      "derive", "does each rule follow from other rules? looks at a few random sizes");
  derive->add_option("goals", d.goals, "file of the rules in question")->required();
  derive->add_option("--from", d.from, "files of the rules to derive from")->required();
  add_common(*derive, d.common);
  add_time(*derive, d.common);
  derive->callback([&] { code = run_rules_derive(d); });
  auto* import =
      rules->add_subcommand("import", "read TASO's file of substitutions (protobuf) as candidates");
  import->add_option("file", i.in, "graph_subst.pb")->required();
  import->add_option("-o,--out", i.out, "file of candidate rules")->required();
  add_common(*import, i.common);
  import->callback([&] { code = run_rules_import(i);
});
}  // namespace

void add_cost_files(CLI::App& root, CostFlags& f, int& code) {
  auto* app = root.add_subcommand("cost", "look into profiles: what was measured on machines")
                  ->require_subcommand(1);
  auto* list = app->add_subcommand(
      "list", "the profiles that are at hand, and which one `optimize` would use by default");
  list->add_option("--json", f.common.json, "write the list to this file (-: stdout)");
  list->callback([&] { code = run_cost_list(f); });
  auto* forget = app->add_subcommand("forget", "remove profiles that were measured here");
  auto* names = forget->add_option("names", f.files, "as `cost list` has them");
  forget->add_flag("--all", f.all, "all files of the user's cache")->excludes(names);
  forget->callback([&f, &code] {
    if (f.files.empty() && !f.all) throw CLI::RequiredError("names or --all");
    code = run_cost_forget(f);
  });
  auto* show = app->add_subcommand("show", "print what profile files hold");
  show->add_option("files", f.files, "profile files")->required();
  show->add_flag("--kernels", f.kernels, "each kernel with its time");
  show->callback([&] { code = run_cost_show(f); });
  auto* merge = app->add_subcommand("merge", "join profile files; of two timings the surer stays");
  merge->add_option("files", f.files, "profile files")->required();
  merge->add_option("-o,--out", f.out, "profile file")->required();
  merge->callback([&] { code = run_cost_merge(f); });
  auto* add = app->add_subcommand("add", "add results of `python -m regraft.profile` to a profile");
  add->add_option("files", f.files, "JSON files of results")->required();
  add->add_option("-o,--out", f.out, "profile file, made or added to")->required();
  add->callback([&] { code = run_cost_add(f); });
}

void add_calibrate(CLI::App& root, CostFlags& f, int& code) {
  auto* app = root.add_subcommand("calibrate",
                                  "measure this machine, so that costs are those of its runtime");
  f.runtime = regraft::cost::runtimes().front().name;
  app->add_option("models", f.files, "ONNX models whose kernels to measure beside the usual ones");
  app->add_option("--runtime", f.runtime, "what to measure with; single: plain loops, no library")
      ->check(CLI::IsMember(with(names_of_runtimes(has_kernels), regraft::cost::kPlainLoops)))
      ->capture_default_str();
  app->add_option("-o,--out", f.out, "profile file, made or added to; default: the user's");
  add_common(*app, f.common);
  add_time(*app, f.common);
  app->callback([&] { code = run_calibrate(f); });
}

void add_cost_models(CLI::App& root, CostFlags& f, int& code) {
  auto* app = root.get_subcommand("cost");
  f.runtime = regraft::cost::runtimes().front().name;
  auto* kernels = app->add_subcommand(
      "kernels", "write what a runtime launches for models, each kernel as a model of its own");
  kernels->add_option("models", f.files, "ONNX models")->required();
  kernels->add_option("--runtime", f.runtime, "runtime")
      ->check(CLI::IsMember(names_of_runtimes(has_kernels)))
      ->capture_default_str();
  kernels->add_option("--block", f.block, "channels in a block of its blocked layout; 0: none");
  kernels->add_option("--dir", f.dir, "folder for the models and kernels.json")->required();
  kernels->add_option("--profile", f.profile, "leave out what this profile file knows");
  kernels->add_flag_callback(
      "-q,--quiet", [&f] { f.common.verbosity = regraft::Verbosity::Quiet; }, "print nothing");
  kernels->callback([&] { code = run_cost_kernels(f); });
  auto* predict = app->add_subcommand("predict", "what a profile says that models take");
  predict->add_option("models", f.files, "ONNX models")->required();
  predict->add_option("--cost", f.cost, "profile file, runtime, or auto")
      ->check(kCost)
      ->capture_default_str();
  predict->add_flag("--kernels", f.kernels, "each kernel with its time");
  predict->callback([&] { code = run_cost_predict(f); });
  auto* time = app->add_subcommand("time", "how long models take in a runtime, all in turn");
  time->add_option("models", f.files, "ONNX models")->required();
  time->add_option("--runtime", f.runtime, "runtime")
      ->check(CLI::IsMember(names_of_runtimes(can_run)))
      ->capture_default_str();
  add_common(*time, f.common);
  add_time(*time, f.common);
  time->callback([&] { code = run_cost_time(f); });
  auto* variants = app->add_subcommand("variants", "write models that compute the same as a model");
  variants->add_option("model", f.files, "ONNX model")->required()->expected(1);
  variants->add_option("--count", f.count, "how many")->check(CLI::Range(1, 100000));
  variants->add_option("--dir", f.dir, "folder for the models and variants.json")->required();
  variants->add_option("--cost", f.cost, "profile file, runtime, or auto")
      ->check(kCost)
      ->capture_default_str();
  variants->add_option("--rules", f.rules, "rule files; default: the shipped ones");
  add_common(*variants, f.common);
  variants->callback([&] { code = run_cost_variants(f); });
}

void add_train(CLI::App& root, TrainFlags& f, int& code) {
  auto* app = root.add_subcommand("train", "train an agent that chooses rewrites");
  app->add_option("--graphs", f.graphs, "ONNX models, or folders of them")->required();
  app->add_option("-o,--out", f.out, "file for the policy")->required();
  app->add_option("--agent", f.agent, "how it learns")
      ->check(CLI::IsMember(agent_names()))
      ->capture_default_str();
  app->add_option("--iterations", f.iterations, "of acting and learning")
      ->check(CLI::Range(1, 1000000000))
      ->capture_default_str();
  app->add_option("--episodes", f.episodes, "of an iteration; 0: the agent's usual")
      ->check(CLI::Range(0, 1000000));
  app->add_option("--reward", f.reward, "what a step is worth")
      ->check(CLI::IsMember(regraft::rl::reward_names()))
      ->capture_default_str();
  app->add_option("--heads", f.heads, "matches: one choice; factorised: a rule, then a location")
      ->check(CLI::IsMember({"matches", "factorised"}))
      ->capture_default_str();
  app->add_option("--sweep", f.sweep,
                  "world-model, with --json: at the end train controllers at these temperatures")
      ->delimiter(',')
      ->check(kPositive);
  app->add_option("--sweep-seeds", f.sweep_seeds, "controllers at each temperature")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app->add_option("--state", f.state, "file that a stopped run goes on from; default: OUT.state");
  app->add_option("--log", f.log, "file for a line of comma-separated numbers an iteration");
  app->add_option("--rules", f.rules, "rule files; default: the shipped ones");
  app->add_option("--cost", f.cost, "cost model")->check(kCost)->capture_default_str();
  add_common(*app, f.common);
  add_time(*app, f.common);
  app->callback([&] { code = run_train(f); });
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
      ->capture_default_str();
  app->add_option("--expanding", f.expanding, "seconds that this may take at most")
      ->check(kPositive)
      ->capture_default_str();
  app->add_option("--rules", f.rules, "rule files; default: the shipped ones");
  app->add_option("--cost", f.cost, "cost model")->check(kCost)->capture_default_str();
  app->add_option("--kept", f.kept,
                  "file of runs of this build; those that are there are not done again");
  app->add_option("--seed", f.common.seed, "first seed of searches")->capture_default_str();
  app->add_option("--json", f.common.json, "write a report for machines to this file (-: stdout)");
  app->add_flag_callback(
      "-q,--quiet", [&f] { f.common.verbosity = regraft::Verbosity::Quiet; }, "print nothing");
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

void add_stats(CLI::App& root, StatsFlags& f, int& code) {
  auto* app = root.add_subcommand(
      "stats", "say what a model consists of, and how much of it regraft understands");
  app->add_option("model", f.model, "ONNX model")->required();
  app->add_option("--json", f.common.json, "write a report for machines to this file (-: stdout)");
  app->add_flag_callback(
      "-q,--quiet", [&f] { f.common.verbosity = regraft::Verbosity::Quiet; }, "print nothing");
  app->callback([&] { code = run_stats(f); });
}

void add_eval(CLI::App& root, EvalFlags& f, int& code) {
  auto* app = root.add_subcommand("eval", "compute a model's outputs from the operators' formulas")
                  ->group("");
  app->add_option("model", f.model);
  app->add_option("--inputs", f.inputs);
  app->add_option("--outputs", f.outputs);
  app->add_option("--list", f.list, "lines of model, inputs, outputs, separated by tabs");
  app->callback([&] { code = run_eval(f); });
}

/// The exit code, once all that was printed has arrived.
int ended(int code) {
  if ((std::fflush(stdout) != 0 || std::ferror(stdout)) && code == kDone)
    return bad_input(regraft::error("standard output: cannot be written"));
  return code == kDone && regraft::Stop::was_interrupted() ? kInterrupted : code;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("regraft: optimises ONNX models with proved graph substitutions", "regraft");
  app.set_version_flag("--version", "regraft " REGRAFT_VERSION);
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& e) {
    return "regraft: " + regraft::printable(e.what()) + " (--help says more)\n";
  });
  regraft::install_interrupt_handler();
  regraft::io::silence_parser();
  int code = kDone;
  GenerateFlags generate;
  VerifyFlags verify;
  OptimizeFlags optimize, simplify;
  CheckFlags check, round;
  ValidateFlags validate;
  RulesFlags rules;
  DeriveFlags derive;
  ImportFlags import;
  ExportFlags rules_export;
  AtlasFlags rules_atlas;
  StatsFlags stats;
  EvalFlags eval;
  TrainFlags train;
  BenchFlags bench;
  RuntimesFlags bench_runtimes;
  CostFlags cost, calibrate;
  add_generate(app, generate, code);
  add_verify(app, verify, code);
  add_optimize(app, optimize, code);
  add_simplify(app, simplify, code);
  add_check(app, check, round, code);
  add_validate(app, validate, code);
  add_rules(app, rules, code);
  add_rules_work(app, derive, import, code);
  add_rules_export(app, rules_export, code);
  add_rules_atlas(app, rules_atlas, code);
  add_calibrate(app, calibrate, code);
  add_cost_files(app, cost, code);
  add_cost_models(app, cost, code);
  add_train(app, train, code);
  add_bench(app, bench, code);
  add_bench_runtimes(app, bench_runtimes, code);
  add_stats(app, stats, code);
  add_eval(app, eval, code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kDone : kUsage;
  } catch (const std::bad_alloc&) {
    tell("more memory is needed than --memory allows");
    return kBadInput;
  } catch (const std::exception& e) {
    if (std::ferror(stdout)) return ended(kDone);
    tell(std::string("internal error: ") + e.what());
    return kInternal;
  } catch (...) {
    tell("internal error");
    return kInternal;
  }
  return ended(code);
}

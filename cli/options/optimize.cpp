#include "cli/options/optimize.h"

#include "cli/options/shared.h"
#include "rewrite/searchers.h"
#include "rl/search.h"

namespace regraft::cli {
namespace {

/// Which searcher, and how far it goes.
void add_search(CLI::App& app, OptimizeFlags& f) {
  auto searchers = rewrite::searcher_names();
  searchers.push_back("policy");
  app.add_option("--search", f.search, "searcher")->check(one_of(searchers))->capture_default_str();
  app.add_option("--policy", f.policy,
                 "policy: file of a trained policy; default: the shipped one");
  app.add_option("--policy-mode", f.policy_mode, "policy: how to follow it")
      ->check(one_of(rl::policy_mode_names()))
      ->capture_default_str();
  auto* propose = app.add_option("--propose", f.propose,
                                 "before the search, prove compositions of rules that this network "
                                 "(of learn-rules) proposes, and use them too");
  app.add_option("--macros", f.macros,
                 "file that keeps them: read if it is there, so that a later run needs no proof")
      ->needs(propose);
  app.add_option("--alpha", f.alpha,
                 "backtracking, partial-order, beam, taso: keep graphs that cost up to alpha "
                 "times the best")
      ->check(CLI::Range(1.0, 100.0))
      ->check(kNotNan)
      ->capture_default_str();
  app.add_option("--budget", f.budget, "candidate graphs to evaluate")
      ->check(kWhole)
      ->capture_default_str();
  app.add_option("--search-time", f.search_seconds,
                 "seconds of searching, 0: no limit; default: 10, below 300 nodes 3, where the "
                 "result is timed and no --time given, else no limit")
      ->check(kSeconds);
  app.add_option("--growth", f.growth, "calls a graph may have, times those of the model")
      ->check(CLI::Range(1.0, 100.0))
      ->check(kNotNan)
      ->capture_default_str();
}

/// What the result is for.
void add_target(CLI::App& app, OptimizeFlags& f) {
  std::vector<std::string> targets = names_of_runtimes(any_runtime);
  std::string described;
  for (const auto& name : targets)
    if (cost::find_runtime(name)->described)
      described += "; " + name + ": never run, a description";
  targets.emplace_back(kAnyRuntime);
  app.add_option(
         "--target", f.target,
         "runtime to optimise for: whose operators, fusions and times count; onnx: any" + described)
      ->check(one_of(targets))
      ->capture_default_str();
  app.add_flag("--portable", f.portable,
               "no operators but ONNX's own, also for onnxruntime, which has more");
}

/// Timing candidates in a runtime.
void add_measuring(CLI::App& app, OptimizeFlags& f) {
  auto* measure =
      app.add_option("--measure", f.measure,
                     "search with this runtime's own times, and time more candidates; default: "
                     "what was found is timed in the target, where a Python has it")
          ->check(one_of(names_of_runtimes(can_run)));
  auto* none = app.add_flag("--no-measure", f.no_measure, "choose by price alone");
  none->excludes(measure);
  app.add_option("--candidates", f.candidates, "graphs to time beside the original")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option(
         "--measurements", f.measurements,
         "time at most so many graphs, one after the other, the next by what was learned of "
         "all candidates; 0: all candidates in turn")
      ->needs(measure)
      ->check(CLI::Range(0, 10000))
      ->capture_default_str();
  app.add_option("--pool", f.pool,
                 "folder for the graphs that are chosen from, with what is known of them");
  app.add_option("--measure-time", f.measure_seconds,
                 "seconds for timing the candidates; default: 10, with --measure 20")
      ->excludes(none)
      ->check(kPositive);
  app.add_option("--measure-threads", f.measure_threads, "threads of the runtime")
      ->excludes(none)
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
}

/// The options of what writes a checked model.
void add_checking(CLI::App& app, OptimizeFlags& f) {
  app.add_option("--shape", f.sizes.shapes, "NAME=1,3,224,224: fix the shape of an input");
  app.add_option("--dim", f.sizes.dims, "NAME=8: fix a named dimension of the inputs");
  app.add_option("--typical", f.sizes.typical,
                 "NAME=8: size at which to price and time an open dimension; default: 1 for the "
                 "batch, 224 in inputs of four axes or more, 4096 as the last axis of real "
                 "numbers, else 64");
  app.add_flag_callback(
      "--keep-dynamic", [] {}, "keep all other dimensions dynamic (the default)");
  app.add_option("--check", f.check, "compare both models on so many random inputs before writing")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_option("--check-on", f.check_on,
                 "reference: in double precision; a runtime: in float32, by its kernels")
      ->check(one_of(places_to_check()))
      ->capture_default_str();
  app.add_flag("--explain", f.explain,
               "say what each rule won and where, and why no rule did anything at the dearest of "
               "the other nodes");
  app.add_option("--certificate", f.certificate,
                 "record the rules applied, with their text and place, for `regraft check`");
  app.add_option("--report", f.page,
                 "write a page (HTML) to this file: both models drawn, what changed and why");
  add_bisect(app, f.bisect);
  app.add_option("--max-size", f.max_size,
                 "bytes that the output may have (units: kB, MiB, ..); 0: the input's and 64 MiB, "
                 "the default")
      ->transform(CLI::AsSizeValue(false))
      ->check(kWhole);
}

}  // namespace

void add_optimize(CLI::App& root, OptimizeFlags& f, int& code) {
  auto* app =
      root.add_subcommand("optimize", "rewrite a model with proved rules so that it costs less");
  app->add_option("model", f.in, "ONNX model")->required();
  app->add_option("-o,--out,out", f.out, "where to write the optimised model")->required();
  app->add_option("--rules", f.rules, "rule files; default: the shipped ones");
  app->add_option("--disable-rule", f.disabled, "names of rules to leave out");
  add_search(*app, f);
  add_target(*app, f);
  app->add_option("--cost", f.cost,
                  "cost model: auto (a profile of this machine, if there is one), roofline, the "
                  "name of a runtime, or a profile file")
      ->check(kCost)
      ->capture_default_str();
  app->add_option("--objective", f.objective, "quantity to minimise: latency, memory or mixed")
      ->check(one_of({"latency", "memory", "mixed"}))
      ->capture_default_str();
  add_measuring(*app, f);
  add_checking(*app, f);
  auto* proof = app->add_option(
      "--proof", f.proof,
      "kernel: only rules of which the kernel checked each proof; solver: also those "
      "that the provers alone know; bounded: also those proved at some shapes only");
  proof->check(one_of({"kernel", "solver", "bounded"}))->capture_default_str();
  app->add_flag_callback(
         "--bounded", [&f] { f.proof = "bounded"; }, "the same as --proof bounded")
      ->excludes(proof);
  app->add_option(
         "--numerics", f.numerics,
         "rounding: rules that are as good in floating point; exact: only those that change "
         "no bit; real: all that are proved over the reals")
      ->check(one_of({"rounding", "exact", "real"}))
      ->capture_default_str();
  add_common(*app, f.common);
  add_time(*app, f.common);
  add_memory(*app, f.common, kMemory);
  app->callback([&, app] {
    if (app->count("--candidates") > 0 && f.measure.empty() && f.pool.empty())
      throw CLI::RequiresError("--candidates", "--measure or --pool");
    for (const char* option : {"--policy", "--policy-mode"})
      if (app->count(option) > 0 && f.search != "policy")
        throw CLI::RequiresError(option, "--search policy");
    if (f.measurements > 0 && f.objective != "latency")
      throw CLI::ExcludesError("--measurements", "--objective " + f.objective);
    code = run_optimize(f);
  });
}

void add_simplify(CLI::App& root, OptimizeFlags& f, int& code) {
  auto* app = root.add_subcommand(
      "simplify", "fold constants and shapes, merge equal nodes, drop what does nothing");
  f.simplify = true;
  f.search = "clean-up";
  app->add_option("model", f.in, "ONNX model")->required();
  app->add_option("-o,--out,out", f.out, "where to write the simplified model")->required();
  add_checking(*app, f);
  add_common(*app, f.common);
  add_time(*app, f.common);
  add_memory(*app, f.common, kMemory);
  app->callback([&] { code = run_optimize(f); });
}

}  // namespace regraft::cli

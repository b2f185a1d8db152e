#include "cli/program/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <sstream>

#include "base/host.h"
#include "base/parallel.h"
#include "base/printable.h"
#include "cli/options/optimize.h"
#include "cli/options/options.h"
#include "cli/options/shared.h"
#include "cli/options/validate.h"
#include "cli/shell/commands.h"
#include "io/model.h"

namespace regraft::cli {

/// The options and their values.
struct Program::State {
  CLI::App app{"regraft: optimises ONNX models with proved graph substitutions", "regraft"};
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
};

Program::Program() : state_(std::make_unique<State>()) {
  State& s = *state_;
  CLI::App& app = s.app;
  app.set_version_flag("--version", "regraft " REGRAFT_VERSION);
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& e) {
    return "regraft: " + printable(e.what()) + (hosted() ? "\n" : " (--help says more)\n");
  });
  add_generate(app, s.generate, s.code);
  add_verify(app, s.verify, s.code);
  add_optimize(app, s.optimize, s.code);
  add_simplify(app, s.simplify, s.code);
  add_check(app, s.check, s.round, s.code);
  add_validate(app, s.validate, s.code);
  add_rules(app, s.rules, s.code);
  add_rules_work(app, s.derive, s.import, s.code);
  add_rules_export(app, s.rules_export, s.code);
  add_rules_atlas(app, s.rules_atlas, s.code);
  add_calibrate(app, s.calibrate, s.code);
  add_cost_files(app, s.cost, s.code);
  add_cost_models(app, s.cost, s.code);
  add_train(app, s.train, s.code);
  add_bench(app, s.bench, s.code);
  add_bench_runtimes(app, s.bench_runtimes, s.code);
  add_stats(app, s.stats, s.code);
  add_eval(app, s.eval, s.code);
  add_shell(app, s.code);
}

Program::~Program() = default;

CLI::App& Program::app() { return state_->app; }

namespace {

/// The exit code, once all that was printed has arrived.
int ended(int code) {
  if ((std::fflush(results()) != 0 || std::ferror(results())) && code == kDone)
    return bad_input(error("standard output: cannot be written"));
  return code == kDone && Stop::was_interrupted() ? kInterrupted : code;
}

/// Prints what `--help` asks for, or what is wrong with the command line.
int explain(const CLI::App& app, const CLI::ParseError& e) {
  std::ostringstream help, mistake;
  int code = app.exit(e, help, mistake);
  fmt::print(results(), "{}", help.str());
  fmt::print(messages(), "{}", mistake.str());
  return code == 0 ? kDone : kUsage;
}

}  // namespace

int Program::run(std::vector<std::string> arguments) {
  io::silence_parser();
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app().parse(std::move(arguments));
  } catch (const CLI::ParseError& e) {
    return explain(app(), e);
  } catch (const std::bad_alloc&) {
    tell("more memory is needed than --memory allows");
    return kBadInput;
  } catch (const std::exception& e) {
    if (std::ferror(results())) return ended(kDone);
    tell(std::string("internal error: ") + e.what());
    return kInternal;
  }
  return ended(state_->code);
}

}  // namespace regraft::cli

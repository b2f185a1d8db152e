#include "cli/program/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <set>
#include <sstream>

#include "base/host.h"
#include "base/nearest.h"
#include "base/parallel.h"
#include "base/printable.h"
#include "base/terminal.h"
#include "cli/options/optimize.h"
#include "cli/options/options.h"
#include "cli/options/shared.h"
#include "cli/options/validate.h"
#include "cli/program/about.h"
#include "cli/shell/commands.h"
#include "io/model.h"
#include "ir/algebra/poly.h"

namespace regraft::cli {

/// The options and their values.
struct Program::State {
  CLI::App app{"regraft: optimises ONNX models with proved graph substitutions", "regraft"};
  int code = kDone;
  GenerateFlags generate;
  VerifyFlags verify;
  WorkFlags work;
  OptimizeFlags optimize, simplify;
  CheckFlags check, round;
  ValidateFlags validate;
  RulesFlags rules;
  DeriveFlags derive;
  MinimiseFlags minimise;
  ImportFlags import;
  ExportFlags rules_export;
  AtlasFlags rules_atlas;
  ProofFlags rules_proof;
  StatsFlags stats;
  EvalFlags eval;
  TrainFlags train;
  LearnRulesFlags learn_rules;
  BenchFlags bench;
  RuntimesFlags bench_runtimes;
  MeasuredFlags bench_measured;
  CostFlags cost, calibrate;
};

namespace {

/// Where the descriptions of options begin.
size_t help_column() {
  constexpr size_t kNarrow = 70, kUsual = 30, kBelow = 8;
  return columns(results()) < kNarrow ? kBelow : kUsual;
}

}  // namespace

Program::Program() : state_(std::make_unique<State>()) {
  State& s = *state_;
  CLI::App& app = s.app;
  app.set_version_flag("--version", "regraft " REGRAFT_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(help_column());
  app.failure_message([](const CLI::App*, const CLI::Error& e) {
    return "regraft: " + printable(e.what()) + (hosted() ? "\n" : " (--help says more)\n");
  });
  add_generate(app, s.generate, s.code);
  add_verify(app, s.verify, s.code);
  add_work(app, s.work, s.code);
  add_optimize(app, s.optimize, s.code);
  add_simplify(app, s.simplify, s.code);
  add_check(app, s.check, s.round, s.code);
  add_validate(app, s.validate, s.code);
  add_rules(app, s.rules, s.code);
  add_rules_work(app, s.derive, s.import, s.code);
  add_rules_minimise(app, s.minimise, s.code);
  add_rules_export(app, s.rules_export, s.code);
  add_rules_proof(app, s.rules_proof, s.code);
  add_rules_atlas(app, s.rules_atlas, s.code);
  add_calibrate(app, s.calibrate, s.code);
  add_cost_files(app, s.cost, s.code);
  add_cost_models(app, s.cost, s.code);
  add_train(app, s.train, s.code);
  add_learn_rules(app, s.learn_rules, s.code);
  add_bench(app, s.bench, s.code);
  add_bench_runtimes(app, s.bench_runtimes, s.code);
  add_bench_measured(app, s.bench_measured, s.code);
  add_stats(app, s.stats, s.code);
  add_eval(app, s.eval, s.code);
  add_shell(app, s.code);
  app.footer(
      "regraft IN.onnx OUT.onnx is short for regraft optimize IN.onnx OUT.onnx; the model comes "
      "first, options behind it.");
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

std::vector<std::string> names_of_subcommands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

/// The subcommand that the command line came to.
const CLI::App& innermost(const CLI::App& app) {
  auto chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

/// What the first word that nobody expected was probably meant to be.
std::string meant(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App& command = innermost(app);
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  for (const std::string& word : arguments) {
    std::string name = word.substr(0, word.find('='));
    bool is_option = name.starts_with("--");
    if (is_option && std::ranges::count(words, name) > 0) continue;
    std::string found = suggestion(name, is_option ? words : names_of_subcommands(command));
    if (!found.empty()) return found;
  }
  return "";
}

/// Prints what `--help` asks for, or what is wrong with the command line.
int explain(const CLI::App& app, const CLI::ParseError& e,
            const std::vector<std::string>& arguments) {
  std::ostringstream help, mistake;
  int code = app.exit(e, help, mistake);
  std::string said = mistake.str();
  bool unexpected = code == static_cast<int>(CLI::ExitCodes::ExtrasError) ||
                    code == static_cast<int>(CLI::ExitCodes::RequiredError);
  if (unexpected && said.ends_with('\n')) said.insert(said.size() - 1, meant(app, arguments));
  fmt::print(results(), "{}", wrapped(help.str(), columns(results()), help_column()));
  say(said);
  return code == 0 ? kDone : kUsage;
}

/// `regraft IN OUT` means `regraft optimize IN OUT`.
bool names_model(const std::string& word) { return word.ends_with(".onnx"); }

/// An Error for a word without any text, or a name with "=" and nothing behind: no operand and no
/// option means anything by that, and the words behind it would be taken for what it lacks.
Status none_is_empty(const std::vector<std::string>& arguments) {
  for (size_t k = 0; k < arguments.size(); ++k) {
    const std::string& word = arguments[k];
    if (word == "--") break;
    if (word.starts_with("--") && word.find('=') == word.size() - 1)
      return error(word.substr(0, word.size() - 1) + ": the value is empty");
  }
  for (size_t k = 0; k < arguments.size(); ++k) {
    if (!arguments[k].empty()) continue;
    bool named = k > 0 && arguments[k - 1].starts_with('-') && arguments[k - 1] != "--";
    return error(named ? arguments[k - 1] + ": the value is empty" : "an argument is empty");
  }
  return {};
}

/// In any order; the version flag of CLI11 takes no others.
const std::set<std::string> kAbout = {"--version", "--json"};

}  // namespace

int Program::run(std::vector<std::string> arguments) {
  io::silence_parser();
  if (!arguments.empty() && names_model(arguments.front()))
    arguments.insert(arguments.begin(), "optimize");
  if (!arguments.empty() && arguments.front() == "help") {  // of a command: its own option
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  if (std::set<std::string>(arguments.begin(), arguments.end()) == kAbout) {
    fmt::print(results(), "{}\n", about());
    return ended(kDone);
  }
  if (auto s = none_is_empty(arguments); !s) return bad_input(s.error());
  try {
    app().parse(
        std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // as it takes them
  } catch (const CLI::ParseError& e) {
    return explain(app(), e, arguments);
  } catch (const PolyOverflow&) {
    return bad_input(error("sizes that are too large: a product of them has more than 63 bits"));
  } catch (const std::bad_alloc&) {
    tell(kNoMemory);
    return kBadInput;
  } catch (const std::exception& e) {
    if (std::ferror(results())) return ended(kDone);
    tell(std::string("internal error: ") + e.what());
    return kInternal;
  }
  return ended(state_->code);
}

}  // namespace regraft::cli

// Reads a model and rules, searches, checks, writes.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files/output_file.h"
#include "base/host.h"
#include "base/printable.h"
#include "base/terminal.h"
#include "certify/check.h"
#include "cli/measure/probe.h"
#include "cli/optimization/bisection.h"
#include "cli/optimization/explanation_text.h"
#include "cli/optimization/page/optimize_page.h"
#include "cli/optimization/report.h"
#include "cli/optimization/summary.h"
#include "cli/support/commands.h"
#include "cli/support/float_check.h"
#include "cli/support/model_files.h"
#include "cli/support/report.h"
#include "cli/support/rule_set.h"
#include "cost/model/roofline.h"
#include "io/bodies/bodies.h"
#include "ir/graph/fold.h"
#include "rewrite/compare/compare.h"

namespace regraft::cli {
namespace {

Status require_distinct_files(const OptimizeFlags& flags, const io::Imported& imported) {
  std::vector<NamedFile> inputs = named("the model's data", io::data_files(imported));
  for (auto& file : named("a rule file", rule_files(flags.rules))) inputs.push_back(file);
  inputs.push_back({"the policy", flags.policy});
  inputs.push_back({"the network", flags.propose});
  if (flags.cost.ends_with(".profile")) inputs.push_back({"the profile", flags.cost});
  std::vector<NamedFile> of_model = {{"the model", flags.in}};
  if (!flags.pool.empty())
    for (const auto& files : {of_model, inputs})
      RETURN_IF_ERROR(require_distinct_in(flags.pool, files, {"graph", "pool.json"}));
  std::vector<NamedFile> texts = {{"the certificate", flags.certificate},
                                  {"the report", flags.common.json},
                                  {"the page", flags.page},
                                  {"the macros", flags.macros}};
  for (auto& file : named("a model that is kept", kept_models(flags.bisect, flags.out)))
    texts.push_back(file);
  std::vector<NamedFile> all = texts;
  all.push_back({"the optimised model", flags.out});
  RETURN_IF_ERROR(require_distinct(inputs, all));
  return require_distinct(of_model, texts);  // a model may take its own place
}

/// All that is written, opened before the work begins.
struct Outputs {
  io::ModelOutput model;
  OutputFile certificate, report, page, macros;
};

Result<Outputs> open_outputs(const OptimizeFlags& flags) {
  ASSIGN_OR_RETURN(auto model, io::ModelOutput::open(flags.out));
  ASSIGN_OR_RETURN(auto certificate, OutputFile::open(flags.certificate));
  ASSIGN_OR_RETURN(auto report, OutputFile::open(flags.common.json));
  ASSIGN_OR_RETURN(auto page, OutputFile::open(flags.page));
  ASSIGN_OR_RETURN(auto macros, OutputFile::open(flags.macros));
  return Outputs{std::move(model), std::move(certificate), std::move(report), std::move(page),
                 std::move(macros)};
}

/// The files of rules, and that of macros where it is there.
std::vector<std::string> files_of_rules(const OptimizeFlags& flags) {
  std::vector<std::string> files = rule_files(flags.rules);
  std::error_code ignored;
  if (!flags.macros.empty() && std::filesystem::exists(flags.macros, ignored))
    files.push_back(flags.macros);
  return files;
}

/// The rules, and what the network proposes beside them.
Result<rewrite::RuleIndex> with_macros(const OptimizeFlags& flags, const io::Imported& imported,
                                       rewrite::RuleIndex rules, Outputs& outputs, Outcome& o,
                                       const Stop& stop) {
  if (flags.propose.empty()) return rules;
  ASSIGN_OR_RETURN(auto kept, kept_macros(flags.macros));
  ASSIGN_OR_RETURN(auto proposed, propose_macros(flags, imported, rules, std::move(kept), stop));
  o.proposed = proposed.counts;
  if (!flags.macros.empty()) RETURN_IF_ERROR(write_macros(outputs.macros, proposed.macros));
  return std::move(proposed.rules);
}

/// Is the result the file that was read?
bool is_copy(const Outcome& o) {
  return o.choice.verbatim && changed_bodies(o) == 0 && io::can_copy(o.bodies.base);
}

/// All of it, or nothing: the model last, as what else there is speaks of it.
Status write(Outputs& outputs, const OptimizeFlags& flags, const io::Imported& imported,
             const rewrite::RuleIndex& rules, const Outcome& o,
             std::optional<io::Exported> exported) {
  if (is_copy(o))
    RETURN_IF_ERROR(outputs.model.copy(imported));
  else if (exported)
    RETURN_IF_ERROR(outputs.model.write(*std::move(exported)));
  else
    RETURN_IF_ERROR(outputs.model.write(o.bodies.base, o.choice.graph));
  if (!flags.certificate.empty()) {
    ASSIGN_OR_RETURN(auto c, certify::make_certificate(
                                 imported, o.bodies.base, o.choice.graph, rules,
                                 {o.choice.search.steps, o.choice.folded, o.bodies.derivations}));
    RETURN_IF_ERROR(outputs.certificate.write(to_text(c)));
  }
  nlohmann::json report = to_json(flags, o);
  RETURN_IF_ERROR(outputs.report.write(to_text(report, 2)));
  if (!flags.page.empty()) RETURN_IF_ERROR(outputs.page.write(optimize_page(report, o, rules)));
  RETURN_IF_ERROR(outputs.model.sync());
  RETURN_IF_ERROR(
      commit_all({&outputs.certificate, &outputs.report, &outputs.page, &outputs.macros}));
  return outputs.model.commit();
}

/// Seconds that the check is expected to take: its share of the time, half at most.
double check_seconds(const OptimizeFlags& flags, const Graph& g, const Stop& stop) {
  if (flags.check == 0 || std::isinf(stop.seconds_left())) return 0;
  constexpr double kFlops = 1e9, kBytes = 4e7;  // in a second, of the evaluation in doubles
  constexpr double kNode = 1e-5, kLeast = 0.2;  // seconds
  cost::Cost work = cost::graph_cost(cost::Roofline(), g).total;
  double once = work.flops / kFlops + work.bytes / kBytes + kNode * g.node_count();
  return std::min(kLeast + 6 * flags.check * once,  // two runs, each with samples
                  stop.seconds_left() / 2);
}

/// Bytes that the output may have.
int64_t most_bytes(const OptimizeFlags& flags, const io::Summary& before) {
  return flags.max_size > 0 ? static_cast<int64_t>(std::min<uint64_t>(flags.max_size, INT64_MAX))
                            : before.bytes + kFoldGrowth;
}

/// Puts the original in the place of a result that may not be written.
void discard(Outcome& o, const io::Imported& imported, std::string why) {
  o.choice.verbatim = true;  // where the file can be copied: the import may have folded already
  o.discarded = std::move(why);
  keep_original(o.choice, imported.graph);
  o.bodies.base = imported;
  o.bodies.derivations.clear();
  for (BodyOutcome& b : o.bodies.outcomes) {
    b.changed = false;
    b.kept = o.discarded;
  }
  tell("warning: the original stays: " + o.discarded);
}

/// Asked to stop, it still compares once: what is written has been checked.
Result<rewrite::CheckReport> compared(const OptimizeFlags& flags, const Graph& a, const Graph& b,
                                      const Stop& stop) {
  auto compare = [&](int runs) {
    Stop::acknowledge_interrupt();
    return compare_on(flags.check_on, a, b, runs, flags.common, stop);
  };
  auto report = compare(Stop::was_interrupted() ? 1 : flags.check);
  return Stop::interrupted() ? compare(1) : report;
}

/// The main graph that is to be written has been compared with the original, as its bodies were
/// before, or all is the original. An Error: the exit code.
std::optional<int> check_result(const OptimizeFlags& flags, const io::Imported& imported,
                                Outcome& o, const Stop& stop) {
  if (flags.check == 0) return std::nullopt;
  auto check = compared(flags, o.bodies.base.graph, o.choice.graph, stop);
  if (!check) return bad_input(error(flags.in + ": " + check.error().message));
  if (!check->agrees) {
    tell("the check failed, nothing written: " + describe(*check));
    return kFailed;
  }
  o.check = *check;
  if (!check->unfinished.empty() && check->runs == 0)
    discard(o, imported, "the check could not be finished: " + check->unfinished);
  else if (!rewrite::incomplete(*check).empty())
    tell("warning: the check is incomplete: " + describe(*check));
  return std::nullopt;
}

/// The result is no larger than allowed, or is the original. The result as it is to be written, if
/// that is known.
std::optional<io::Exported> fit_result(const OptimizeFlags& flags, const io::Imported& imported,
                                       Outcome& o) {
  int64_t most = most_bytes(flags, o.before);
  o.after = o.before;
  if (is_copy(o)) return std::nullopt;
  auto made = io::Exported::of(o.bodies.base, o.choice.graph);
  o.after = made ? made->summary() : io::summarise(o.bodies.base, o.choice.graph);
  if (o.after.bytes <= most) return made ? std::optional(*std::move(made)) : std::nullopt;
  discard(o, imported,
          fmt::format("the result has {}, more than the {} allowed (--max-size)",
                      human_bytes(static_cast<double>(o.after.bytes)),
                      human_bytes(static_cast<double>(most))));
  o.after = o.before;
  return std::nullopt;
}

rewrite::SearchOptions search_options(const OptimizeFlags& flags, Opset opset) {
  rewrite::SearchOptions options;
  options.alpha = flags.alpha;
  options.budget = flags.budget;
  options.max_growth = flags.growth;
  options.threads = thread_count(flags.common);
  options.seed = flags.common.seed;
  options.opset = opset;
  options.verbosity = flags.common.verbosity;
  return options;
}

/// May the main graph have operators of com.microsoft that it had not?
bool allows_own_operators(const OptimizeFlags& flags, Opset opset) {
  const cost::Runtime* target = cost::find_runtime(flags.target);
  if (flags.portable || (target && target->standard_only)) return false;
  return opset.microsoft || (target && target->own_operators && !flags.simplify);
}

/// The target reads the model's operator set.
Status require_readable(const OptimizeFlags& flags, Opset opset) {
  const cost::Runtime* target = cost::find_runtime(flags.target);
  if (!target || target->last_opset == 0) return {};
  if (opset.version >= target->first_opset && opset.version <= target->last_opset) return {};
  return error(fmt::format("{}: operator set {}; {} reads {} to {}", flags.in, opset.version,
                           flags.target, target->first_opset, target->last_opset));
}

/// Are prices scaled to this processor where they have to be?
bool probes(const OptimizeFlags& flags) {
  return !flags.simplify && !flags.no_measure && flags.measure.empty() && flags.cost == "auto";
}

/// Optimises the bodies, then the main graph. An Error: the exit code.
std::optional<int> search(const OptimizeFlags& flags, const io::Imported& imported,
                          const rewrite::RuleIndex& rules, Outcome& o, const Stop& stop) {
  auto failed = [&](const Error& e) { return bad_input(error(flags.in + ": " + e.message)); };
  int64_t main_nodes = 0;
  for (const auto& [type, n] : o.before.operators) main_nodes += n;
  Shared shared{flags, rules, search_options(flags, o.before.opset),
                std::max<int64_t>(0, most_bytes(flags, o.before) - o.before.bytes),
                main_nodes + io::nodes_in_bodies(imported)};
  Compare compare = [&](const Graph& a, const Graph& b, const Stop& part) {
    return compared(flags, a, b, part);
  };
  auto bodies = optimise_bodies(shared, imported, compare, stop);
  if (!bodies) return failed(bodies.error());
  o.bodies = *std::move(bodies);
  if (!o.bodies.differs.empty()) {
    tell("the check failed, nothing written: " + o.bodies.differs);
    return kFailed;
  }
  io::Imported& base = o.bodies.base;
  base.microsoft = allows_own_operators(flags, o.before.opset);
  shared.options.opset = Opset(o.before.opset.version, base.microsoft);
  Stop searching(stop, check_seconds(flags, base.graph, stop));
  shared.options.budget = part_of(shared, shared.options.budget, main_nodes);
  auto choice = choose(flags, base, rules, shared.options, shared.growth, searching);
  if (!choice) return failed(choice.error());
  o.choice = *std::move(choice);
  base.as_initialisers = flags.simplify || !o.choice.kept;
  return std::nullopt;
}

/// The user's own test passes on the result, or none is given. Else the exit code.
std::optional<int> passes(const OptimizeFlags& flags, const io::Imported& imported,
                          const rewrite::RuleIndex& rules, const Outcome& o, const Stop& stop) {
  if (flags.bisect.command.empty()) return std::nullopt;
  if (Stop::was_interrupted()) {
    tell("interrupted before the command judged the result: nothing written");
    return kInterrupted;
  }
  auto certificate =
      certify::make_certificate(imported, o.bodies.base, o.choice.graph, rules,
                                {o.choice.search.steps, o.choice.folded, o.bodies.derivations});
  if (!certificate) return bad_input(error(flags.in + ": " + certificate.error().message));
  auto code = bisect({imported, *certificate, o.bodies.base.as_initialisers, flags.bisect,
                      flags.out, flags.common.verbosity},
                     stop);
  if (!code) {
    if (!Stop::was_interrupted()) return bad_input(code.error());
    tell(code.error().message);
    return kInterrupted;
  }
  return *code == kDone ? std::nullopt : std::optional(*code);
}

/// Says what the rules won, in a tenth of the time that all took so far, but a second at least.
void explain(const OptimizeFlags& flags, const rewrite::RuleIndex& rules, Outcome& o,
             std::chrono::steady_clock::time_point start) {
  constexpr double kLeast = 1, kPart = 0.1;
  std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  Explained done{o.bodies.base,
                 rules,
                 o.choice,
                 *o.trace,
                 flags.target,
                 o.discarded,
                 Opset(o.before.opset.version, o.bodies.base.microsoft),
                 flags.simplify};
  auto explanation = explain(done, std::max(kLeast, kPart * taken.count()));
  if (!explanation) tell("warning: nothing can be explained: " + explanation.error().message);
  if (explanation) o.explanation = *std::move(explanation);
}

/// Prose is read at 80 characters, however wide the terminal is.
size_t width_of_text() { return std::min<size_t>(columns(results()), 80); }

}  // namespace

int run_optimize(const OptimizeFlags& flags) {
  auto start = std::chrono::steady_clock::now();
  int64_t memory = memory_limit(flags.common);
  auto rules = load_rules({files_of_rules(flags), flags.disabled, proofs_wanted(flags.proof),
                           numerics_wanted(flags.numerics)});
  if (!rules) return bad_input(rules.error());
  auto sizes = fixed_sizes(flags.sizes);
  if (!sizes) return bad_input(sizes.error());
  auto imported = io::load(flags.in, *sizes);
  if (!imported) return bad_input(imported.error());
  if (auto s = require_distinct_files(flags, *imported); !s) return bad_input(s.error());
  auto outputs = open_outputs(flags);
  if (!outputs) return bad_input(outputs.error());
  Outcome o;
  o.unsafe_rules = rules->unsafe();
  o.before = io::summarise(*imported);
  if (auto s = require_readable(flags, o.before.opset); !s) return bad_input(s.error());
  o.dynamic = dynamic_sizes(imported->graph);
  Stop stop(flags.common.seconds, memory);
  if (probes(flags))
    if (auto probed = take_probe(cost::find_runtime(flags.target), stop, flags.common.verbosity);
        !probed)
      tell("warning: this processor was not probed: " + probed.error().message);
  rules = with_macros(flags, *imported, *std::move(rules), *outputs, o, stop);
  if (!rules) return bad_input(rules.error());
  o.rules = rules->rules().size();
  if (auto ended = search(flags, *imported, *rules, o, stop)) return *ended;
  if (auto ended = check_result(flags, *imported, o, stop)) return *ended;
  std::optional<io::Exported> exported = fit_result(flags, *imported, o);
  if (auto ended = passes(flags, *imported, *rules, o, stop)) return *ended;
  if (!flags.common.json.empty() || !flags.page.empty() || flags.explain) {
    auto traced = trace(o.bodies.base.graph, *rules, o.choice,
                        Opset(o.before.opset.version, o.bodies.base.microsoft));
    if (!traced) tell("warning: the steps cannot be shown: " + traced.error().message);
    if (traced) o.trace = *std::move(traced);
  }
  if (flags.explain && o.trace) explain(flags, *rules, o, start);
  o.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (flags.common.verbosity == Verbosity::Normal) {
    print(o);
    if (o.explanation) fmt::print(results(), "{}", to_text(*o.explanation, width_of_text()));
  }
  if (auto s = write(*outputs, flags, *imported, *rules, o, std::move(exported)); !s)
    return bad_input(s.error());
  if (flags.common.verbosity == Verbosity::Normal)
    fmt::print(results(), "wrote {}\n", printable(flags.out));
  return kDone;
}

}  // namespace regraft::cli

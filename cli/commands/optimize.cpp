// Reads a model and rules, searches, checks, writes.
#include "cli/measure/choose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files/output_file.h"
#include "base/host.h"
#include "base/printable.h"
#include "base/resources.h"
#include "certify/check.h"
#include "cli/measure/bodies.h"
#include "cli/measure/probe.h"
#include "cli/pages/optimize_page.h"
#include "cli/support/commands.h"
#include "cli/support/float_check.h"
#include "cli/support/model_files.h"
#include "cli/support/report.h"
#include "cli/support/rule_set.h"
#include "cost/model/roofline.h"
#include "io/bodies/bodies.h"
#include "io/model.h"
#include "ir/graph/fold.h"
#include "rewrite/compare/compare.h"
#include "rewrite/search/replay.h"

namespace regraft::cli {
namespace {

/// Everything that the report says.
struct Outcome {
  io::Summary before, after;
  OptimisedBodies bodies;  ///< with the model that the choice was made for
  Choice choice;
  std::optional<rewrite::CheckReport> check;
  std::string discarded;                   ///< why a graph that was found is not the result
  size_t rules = 0, unsafe_rules = 0;      ///< directions used, and left out for their numerics
  std::map<std::string, int64_t> dynamic;  ///< see dynamic_sizes
  double seconds = 0;
};

std::string change(double before, double after) {
  return before == 0 ? std::string() : fmt::format("{:+.1f} %", 100 * (after / before - 1));
}

std::string table_of(const Outcome& o) {
  Table table{{{"", "before", "after", "change"}}};
  std::set<std::string> types;
  for (const auto& [type, n] : o.before.operators) types.insert(type);
  for (const auto& [type, n] : o.after.operators) types.insert(type);
  int total[2] = {0, 0};
  for (const auto& type : types) {
    auto count = [&](const io::Summary& s) {
      return s.operators.count(type) ? s.operators.at(type) : 0;
    };
    int b = count(o.before), a = count(o.after);
    total[0] += b;
    total[1] += a;
    table.rows.push_back({type, fmt::format("{}", b), fmt::format("{}", a),
                          a == b ? "" : fmt::format("{:+}", a - b)});
  }
  table.rows.emplace_back();
  auto add = [&](const char* name, double b, double a, const std::string& shown_b,
                 const std::string& shown_a) {
    table.rows.push_back({name, shown_b, shown_a, b == a ? "" : change(b, a)});
  };
  auto pb = static_cast<double>(o.before.parameters), pa = static_cast<double>(o.after.parameters);
  auto sb = static_cast<double>(o.before.bytes), sa = static_cast<double>(o.after.bytes);
  const auto &cb = o.choice.sums[0].total, &ca = o.choice.sums[1].total;
  const auto &wb = o.choice.before.predicted, &wa = o.choice.after.predicted;
  auto mb = static_cast<double>(wb.peak_bytes), ma = static_cast<double>(wa.peak_bytes);
  add("operators", total[0], total[1], fmt::format("{}", total[0]), fmt::format("{}", total[1]));
  add("parameters", pb, pa, human_count(pb), human_count(pa));
  add("FLOPs", cb.flops, ca.flops, human_count(cb.flops), human_count(ca.flops));
  add("predicted cost", wb.microseconds, wa.microseconds, fmt::format("{:.1f} us", wb.microseconds),
      fmt::format("{:.1f} us", wa.microseconds));
  if (const auto& tb = o.choice.before.measured, &ta = o.choice.after.measured; tb && ta)
    add("measured", tb->microseconds, ta->microseconds, fmt::format("{:.1f} us", tb->microseconds),
        fmt::format("{:.1f} us", ta->microseconds));
  add("activations at once", mb, ma, human_bytes(mb), human_bytes(ma));
  add("file size", sb, sa, human_bytes(sb), human_bytes(sa));
  return to_string(table);
}

void print_measured(const Choice& c) {
  if (c.measured_with.empty()) return;
  fmt::print(results(),
             "measured with {}: noise {:.1f} % before, {:.1f} % after; {} other candidates",
             c.measured_with, 100 * c.before.measured->noise, 100 * c.after.measured->noise,
             c.others.size());
  if (c.spread) fmt::print(results(), "; the original against itself {:.1f} %", 100 * *c.spread);
  for (size_t k = 0; k < c.others.size(); ++k)
    fmt::print(results(), "{} {:.1f} us", k ? "," : ":", c.others[k].measured->microseconds);
  fmt::print(results(), "\n");
}

int64_t changed_bodies(const Outcome& o) {
  return std::ranges::count_if(o.bodies.outcomes, &BodyOutcome::changed);
}

void print_bodies(const Outcome& o) {
  if (o.bodies.outcomes.empty()) return;
  int64_t nodes[2] = {0, 0}, rules = 0;
  for (const BodyOutcome& b : o.bodies.outcomes) {
    nodes[0] += b.nodes_before;
    nodes[1] += b.changed ? b.nodes_after : b.nodes_before;
    for (const auto& [rule, n] : b.applied) rules += b.changed ? n : 0;
  }
  fmt::print(results(),
             "bodies of If, Loop and Scan: {} of {} changed, {} operators before, {} after; {} "
             "rules applied\n",
             changed_bodies(o), o.bodies.outcomes.size(), nodes[0], nodes[1], rules);
}

void print(const Outcome& o) {
  const Choice& c = o.choice;
  const auto& s = c.search;
  fmt::print(results(), "{}", table_of(o));
  if (!o.dynamic.empty()) fmt::print(results(), "sizes left open: {}\n", dynamic_text(o.dynamic));
  for (const auto& [rule, n] : s.applied)
    fmt::print(results(), "applied {}x {}\n", n, printable(rule));
  print_bodies(o);
  if (c.kept)
    fmt::print(results(), "the original {}stays: {}\n", changed_bodies(o) > 0 ? "main graph " : "",
               o.discarded.empty() ? "nothing better was found" : printable(o.discarded));
  if (s.left_out > 0)
    fmt::print(results(),
               "values have so many readers that {} searches for combinations were cut short\n",
               s.left_out);
  fmt::print(results(),
             "{} rules, {} graphs expanded, {} candidates, stopped: {}; {:.1f} s, peak {}\n",
             o.rules, s.expanded, s.candidates, rewrite::to_string(s.stop), o.seconds,
             human_bytes(static_cast<double>(peak_bytes())));
  fmt::print(results(), "cost model: {}\n", c.model);
  fmt::print(results(), "profile: {}\n", printable(to_string(c.profile)));
  for (const auto& line : c.passed_over) fmt::print(results(), "{}\n", printable(line));
  if (const cost::Worth& w = c.after.predicted; w.kernels > 0)
    fmt::print(results(), "of the {} kernels that it runs, {} were not measured but estimated\n",
               w.kernels, w.estimated);
  print_measured(c);
  if (c.elsewhere)
    fmt::print(results(),
               "{} {} takes {:.2f} times as long for this model (noise {:.1f} %): --target {}\n",
               c.elsewhere->runtime, c.elsewhere->version, c.elsewhere->ratio,
               100 * c.elsewhere->noise, c.elsewhere->runtime);
  if (!c.note.empty()) fmt::print(results(), "{}\n", printable(c.note));
  if (o.check && o.discarded.empty())
    fmt::print(results(), "check: {}\n", printable(describe(*o.check)));
}

nlohmann::json to_json(const cost::Timing& t) {
  return {{"microseconds", t.microseconds}, {"noise", t.noise}, {"runs", t.runs}};
}

nlohmann::json side(const io::Summary& s, const cost::GraphCost& sum, const Valued& v) {
  nlohmann::json j = {{"operators", s.operators}, {"parameters", s.parameters},
                      {"bytes", s.bytes},         {"cost", v.predicted.microseconds},
                      {"calls", sum.calls_by_op}, {"sum", sum.total.microseconds},
                      {"flops", sum.total.flops}, {"activation_bytes", v.predicted.peak_bytes}};
  if (v.measured) j["measured"] = to_json(*v.measured);
  return j;
}

nlohmann::json to_json(const BodyOutcome& b) {
  nlohmann::json j = {{"where", b.where},
                      {"changed", b.changed},
                      {"kept_because", b.kept},
                      {"before", {{"operators", b.nodes_before}, {"cost", b.cost_before}}},
                      {"after", {{"operators", b.nodes_after}, {"cost", b.cost_after}}},
                      {"applied", b.applied}};
  if (b.check) j["check"] = json_of(*b.check);
  return j;
}

nlohmann::json to_json(const OptimizeFlags& flags, const Outcome& o) {
  const auto& s = o.choice.search;
  nlohmann::json improvements = nlohmann::json::array();
  for (const auto& i : s.improvements)
    improvements.push_back(
        {{"candidate", i.candidate}, {"cost", i.cost}, {"seconds", i.seconds}, {"rule", i.rule}});
  nlohmann::json j = {{"version", REGRAFT_VERSION},
                      {"input", flags.in},
                      {"output", flags.out},
                      {"rules", o.rules},
                      {"numerics", flags.numerics},
                      {"unsafe_rules", o.unsafe_rules},
                      {"cost_model", o.choice.model},
                      {"profile", to_json(o.choice.profile)},
                      {"profiles_not_used", o.choice.passed_over},
                      {"fixed_shapes", flags.sizes.shapes},
                      {"fixed_dims", flags.sizes.dims},
                      {"dynamic", o.dynamic},
                      {"before", side(o.before, o.choice.sums[0], o.choice.before)},
                      {"after", side(o.after, o.choice.sums[1], o.choice.after)},
                      {"kept", o.choice.kept},
                      {"discarded", o.discarded},
                      {"target", flags.target},
                      {"portable", flags.portable},
                      {"objective", flags.objective},
                      {"kernels", o.choice.after.predicted.kernels},
                      {"estimated", o.choice.after.predicted.estimated},
                      {"applied", s.applied},
                      {"search",
                       {{"searcher", flags.search},
                        {"alpha", flags.alpha},
                        {"budget", flags.budget},
                        {"growth", flags.growth},
                        {"seed", flags.common.seed},
                        {"threads", thread_count(flags.common)},
                        {"expanded", s.expanded},
                        {"candidates", s.candidates},
                        {"duplicates", s.duplicates},
                        {"rejected", s.rejected},
                        {"left_out", s.left_out},
                        {"peak_queue", s.peak_queue},
                        {"stop_reason", rewrite::to_string(s.stop)},
                        {"seconds", s.seconds},
                        {"improvements", improvements}}},
                      {"seconds", o.seconds},
                      {"peak_bytes", peak_bytes()}};
  j["bodies"] = nlohmann::json::array();
  for (const BodyOutcome& b : o.bodies.outcomes) j["bodies"].push_back(to_json(b));
  if (!o.choice.note.empty()) j["note"] = o.choice.note;
  if (!o.choice.measured_with.empty()) {
    j["measured_with"] = o.choice.measured_with;
    if (o.choice.spread) j["spread"] = *o.choice.spread;
    for (const Valued& v : o.choice.others)
      j["others"].push_back(
          {{"cost", v.predicted.microseconds}, {"measured", to_json(*v.measured)}});
  }
  if (const auto& e = o.choice.elsewhere)
    j["faster_runtime"] = {
        {"runtime", e->runtime}, {"version", e->version}, {"ratio", e->ratio}, {"noise", e->noise}};
  if (o.check) j["check"] = json_of(*o.check);
  return j;
}

Status require_distinct_files(const OptimizeFlags& flags, const io::Imported& imported) {
  std::vector<NamedFile> inputs = named("the model's data", io::data_files(imported));
  for (auto& file : named("a rule file", rule_files(flags.rules))) inputs.push_back(file);
  inputs.push_back({"the policy", flags.policy});
  if (flags.cost.ends_with(".profile")) inputs.push_back({"the profile", flags.cost});
  std::vector<NamedFile> texts = {{"the certificate", flags.certificate},
                                  {"the report", flags.common.json},
                                  {"the page", flags.html}};
  std::vector<NamedFile> all = texts;
  all.push_back({"the optimised model", flags.out});
  RETURN_IF_ERROR(require_distinct(inputs, all));
  return require_distinct({{"the model", flags.in}}, texts);  // a model may take its own place
}

/// All that is written, opened before the work begins.
struct Outputs {
  io::ModelOutput model;
  OutputFile certificate, report, page;
};

Result<Outputs> open_outputs(const OptimizeFlags& flags) {
  ASSIGN_OR_RETURN(auto model, io::ModelOutput::open(flags.out));
  ASSIGN_OR_RETURN(auto certificate, OutputFile::open(flags.certificate));
  ASSIGN_OR_RETURN(auto report, OutputFile::open(flags.common.json));
  ASSIGN_OR_RETURN(auto page, OutputFile::open(flags.html));
  return Outputs{std::move(model), std::move(certificate), std::move(report), std::move(page)};
}

/// Is the result the file that was read?
bool is_copy(const Outcome& o) {
  return o.choice.verbatim && changed_bodies(o) == 0 && io::can_copy(o.bodies.base);
}

/// All of it, or nothing: the model last, as what else there is speaks of it.
Status write(Outputs& outputs, const OptimizeFlags& flags, const io::Imported& imported,
             const rewrite::RuleIndex& rules, const Outcome& o) {
  RETURN_IF_ERROR(is_copy(o) ? outputs.model.copy(imported)
                             : outputs.model.write(o.bodies.base, o.choice.graph));
  if (!flags.certificate.empty()) {
    ASSIGN_OR_RETURN(auto c, certify::make_certificate(
                                 imported, o.bodies.base, o.choice.graph, rules,
                                 {o.choice.search.steps, o.choice.folded, o.bodies.derivations}));
    RETURN_IF_ERROR(outputs.certificate.write(to_text(c)));
  }
  nlohmann::json report = to_json(flags, o);
  RETURN_IF_ERROR(outputs.report.write(to_text(report, 2)));
  if (!flags.html.empty()) RETURN_IF_ERROR(outputs.page.write(optimize_page(report, rules)));
  RETURN_IF_ERROR(outputs.model.sync());
  RETURN_IF_ERROR(commit_all({&outputs.certificate, &outputs.report, &outputs.page}));
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
  o.choice.verbatim = false;
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

/// The result is no larger than allowed, or is the original.
void fit_result(const OptimizeFlags& flags, const io::Imported& imported, Outcome& o) {
  int64_t most = most_bytes(flags, o.before);
  o.after = is_copy(o) ? o.before : io::summarise(o.bodies.base, o.choice.graph);
  bool same = o.choice.kept && o.choice.folded.empty() && changed_bodies(o) == 0;
  if (o.after.bytes <= most || same) return;
  discard(o, imported,
          fmt::format("the result has {}, more than the {} allowed (--max-size)",
                      human_bytes(static_cast<double>(o.after.bytes)),
                      human_bytes(static_cast<double>(most))));
  o.after = o.before;
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

}  // namespace

int run_optimize(const OptimizeFlags& flags) {
  auto start = std::chrono::steady_clock::now();
  int64_t memory = memory_limit(flags.common);
  auto rules =
      load_rules({flags.rules, flags.disabled, flags.bounded, numerics_wanted(flags.numerics)});
  if (!rules) return bad_input(rules.error());
  auto sizes = fixed_sizes(flags.sizes);
  if (!sizes) return bad_input(sizes.error());
  auto imported = io::load(flags.in, *sizes);
  if (!imported) return bad_input(imported.error());
  if (auto s = require_distinct_files(flags, *imported); !s) return bad_input(s.error());
  auto outputs = open_outputs(flags);
  if (!outputs) return bad_input(outputs.error());
  Outcome o;
  o.rules = rules->rules().size();
  o.unsafe_rules = rules->unsafe();
  o.before = io::summarise(*imported);
  if (auto s = require_readable(flags, o.before.opset); !s) return bad_input(s.error());
  o.dynamic = dynamic_sizes(imported->graph);
  Stop stop(flags.common.seconds, memory);
  if (probes(flags))
    if (auto probed = take_probe(cost::find_runtime(flags.target), stop, flags.common.verbosity);
        !probed)
      tell("warning: this processor was not probed: " + probed.error().message);
  if (auto ended = search(flags, *imported, *rules, o, stop)) return *ended;
  if (auto ended = check_result(flags, *imported, o, stop)) return *ended;
  fit_result(flags, *imported, o);
  o.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (flags.common.verbosity == Verbosity::Normal) print(o);
  if (auto s = write(*outputs, flags, *imported, *rules, o); !s) return bad_input(s.error());
  if (flags.common.verbosity == Verbosity::Normal)
    fmt::print(results(), "wrote {}\n", printable(flags.out));
  return kDone;
}

}  // namespace regraft::cli

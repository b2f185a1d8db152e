// Reads a model and rules, searches, checks, writes.
#include "cli/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "base/output_file.h"
#include "base/printable.h"
#include "base/resources.h"
#include "cli/certificate.h"
#include "cli/commands.h"
#include "cli/float_check.h"
#include "cli/model_files.h"
#include "cli/report.h"
#include "cli/rule_set.h"
#include "io/model.h"
#include "rewrite/check.h"
#include "rewrite/replay.h"

namespace regraft::cli {
namespace {

/// Everything that the report says.
struct Outcome {
  io::Summary before, after;
  Choice choice;
  std::optional<rewrite::CheckReport> check;
  size_t rules = 0;
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
  fmt::print("measured with {}: noise {:.1f} % before, {:.1f} % after; {} other candidates",
             c.measured_with, 100 * c.before.measured->noise, 100 * c.after.measured->noise,
             c.others.size());
  for (size_t k = 0; k < c.others.size(); ++k)
    fmt::print("{} {:.1f} us", k ? "," : ":", c.others[k].measured->microseconds);
  fmt::print("\n");
}

void print(const Outcome& o) {
  const Choice& c = o.choice;
  const auto& s = c.search;
  fmt::print("{}", table_of(o));
  for (const auto& [rule, n] : s.applied) fmt::print("applied {}x {}\n", n, printable(rule));
  if (c.kept) fmt::print("the original stays: nothing better was found\n");
  fmt::print("{} rules, {} graphs expanded, {} candidates, stopped: {}; {:.1f} s, peak {}\n",
             o.rules, s.expanded, s.candidates, rewrite::to_string(s.stop), o.seconds,
             human_bytes(static_cast<double>(peak_bytes())));
  fmt::print("cost model: {}\n", c.model);
  if (c.kernels > 0)
    fmt::print("of the {} kernels that it runs, {} were not measured but estimated\n", c.kernels,
               c.estimated);
  print_measured(c);
  if (!c.note.empty()) fmt::print("{}\n", c.note);
  if (o.check) fmt::print("check: {}\n", printable(describe(*o.check)));
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
                      {"cost_model", o.choice.model},
                      {"before", side(o.before, o.choice.sums[0], o.choice.before)},
                      {"after", side(o.after, o.choice.sums[1], o.choice.after)},
                      {"kept", o.choice.kept},
                      {"objective", flags.objective},
                      {"kernels", o.choice.kernels},
                      {"estimated", o.choice.estimated},
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
                        {"peak_queue", s.peak_queue},
                        {"stop_reason", rewrite::to_string(s.stop)},
                        {"seconds", s.seconds},
                        {"improvements", improvements}}},
                      {"seconds", o.seconds},
                      {"peak_bytes", peak_bytes()}};
  if (!o.choice.note.empty()) j["note"] = o.choice.note;
  if (!o.choice.measured_with.empty()) {
    j["measured_with"] = o.choice.measured_with;
    for (const Valued& v : o.choice.others)
      j["others"].push_back(
          {{"cost", v.predicted.microseconds}, {"measured", to_json(*v.measured)}});
  }
  if (o.check)
    j["check"] = {{"passed", o.check->agrees},
                  {"runs", o.check->runs},
                  {"max_absolute", o.check->max_absolute},
                  {"max_relative", o.check->max_relative},
                  {"outputs_not_compared", o.check->outputs_not_compared},
                  {"values_run", o.check->values_run},
                  {"values_shared", o.check->values_shared},
                  {"values_not_run", o.check->values_not_run}};
  return j;
}

Status require_distinct_files(const OptimizeFlags& flags, const io::Imported& imported) {
  std::vector<NamedFile> inputs = named("the model's data", io::data_files(imported));
  for (auto& file : named("a rule file", rule_files(flags.rules))) inputs.push_back(file);
  inputs.push_back({"the policy", flags.policy});
  if (flags.cost.ends_with(".profile")) inputs.push_back({"the profile", flags.cost});
  std::vector<NamedFile> texts = {{"the certificate", flags.certificate},
                                  {"the report", flags.common.json}};
  std::vector<NamedFile> all = texts;
  all.push_back({"the optimised model", flags.out});
  RETURN_IF_ERROR(require_distinct(inputs, all));
  return require_distinct({{"the model", flags.in}}, texts);  // a model may take its own place
}

/// All that is written, opened before the work begins.
struct Outputs {
  io::ModelOutput model;
  OutputFile certificate, report;
};

Result<Outputs> open_outputs(const OptimizeFlags& flags) {
  ASSIGN_OR_RETURN(auto model, io::ModelOutput::open(flags.out));
  ASSIGN_OR_RETURN(auto certificate, OutputFile::open(flags.certificate));
  ASSIGN_OR_RETURN(auto report, OutputFile::open(flags.common.json));
  return Outputs{std::move(model), std::move(certificate), std::move(report)};
}

/// All of it, or nothing: the model last, as what else there is speaks of it.
Status write(Outputs& outputs, const OptimizeFlags& flags, const io::Imported& imported,
             const rewrite::RuleIndex& rules, const Outcome& o) {
  RETURN_IF_ERROR(outputs.model.write(imported, o.choice.graph));
  if (!flags.certificate.empty()) {
    auto c = make_certificate(imported.graph, o.before.opset, rules, o.choice.search);
    RETURN_IF_ERROR(outputs.certificate.write(to_text(c)));
  }
  RETURN_IF_ERROR(outputs.report.write(to_text(to_json(flags, o), 2)));
  RETURN_IF_ERROR(outputs.model.sync());
  RETURN_IF_ERROR(commit_all({&outputs.certificate, &outputs.report}));
  return outputs.model.commit();
}

rewrite::SearchOptions search_options(const OptimizeFlags& flags, int opset) {
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

/// Asked to stop, it still compares once: what is written has been checked.
Result<rewrite::CheckReport> checked(const OptimizeFlags& flags, const Graph& a, const Graph& b) {
  auto compare = [&](int runs) {
    Stop::acknowledge_interrupt();
    return compare_on(flags.check_on, a, b, runs, flags.common.seed, Stop());
  };
  auto report = compare(Stop::was_interrupted() ? 1 : flags.check);
  return !report && Stop::interrupted() ? compare(1) : report;
}

}  // namespace

int run_optimize(const OptimizeFlags& flags) {
  auto start = std::chrono::steady_clock::now();
  auto rules = load_rules({flags.rules, flags.disabled, flags.bounded});
  if (!rules) return bad_input(rules.error());
  auto imported = io::load(flags.in);
  if (!imported) return bad_input(imported.error());
  if (auto s = require_distinct_files(flags, *imported); !s) return bad_input(s.error());
  auto outputs = open_outputs(flags);
  if (!outputs) return bad_input(outputs.error());
  Outcome o;
  o.rules = rules->rules().size();
  o.before = io::summarise(*imported, imported->graph);
  Stop stop(flags.common.seconds);
  auto choice = choose(flags, *imported, *rules, search_options(flags, o.before.opset), stop);
  if (!choice) return bad_input(error(flags.in + ": " + choice.error().message));
  o.choice = *std::move(choice);
  if (flags.check > 0) {
    auto check = checked(flags, imported->graph, o.choice.graph);
    if (!check) return bad_input(error(flags.in + ": " + check.error().message));
    if (!check->agrees) {
      tell("the check failed, nothing written: " + describe(*check));
      return kFailed;
    }
    if (check->outputs_not_compared > 0)
      tell("warning: the check is incomplete: " + describe(*check));
    o.check = *check;
  }
  o.after = io::summarise(*imported, o.choice.graph);
  o.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (flags.common.verbosity == Verbosity::Normal) print(o);
  if (auto s = write(*outputs, flags, *imported, *rules, o); !s) return bad_input(s.error());
  if (flags.common.verbosity == Verbosity::Normal) fmt::print("wrote {}\n", printable(flags.out));
  return kDone;
}

}  // namespace regraft::cli

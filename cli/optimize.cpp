// Reads a model and rules, searches, checks, writes.
#include "rewrite/optimize.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/resources.h"
#include "cli/certificate.h"
#include "cli/commands.h"
#include "cli/report.h"
#include "cli/rule_set.h"
#include "cost/roofline.h"
#include "io/model.h"
#include "rewrite/check.h"
#include "rewrite/searchers.h"

namespace regraft::cli {
namespace {

/// Everything that the report says.
struct Outcome {
  io::Summary before, after;
  rewrite::OptimizeReport report;
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
  const auto &cb = o.report.before.cost, &ca = o.report.after.cost;
  add("operators", total[0], total[1], fmt::format("{}", total[0]), fmt::format("{}", total[1]));
  add("parameters", pb, pa, human_count(pb), human_count(pa));
  add("FLOPs", cb.flops, ca.flops, human_count(cb.flops), human_count(ca.flops));
  add("predicted cost", cb.microseconds, ca.microseconds, fmt::format("{:.1f} us", cb.microseconds),
      fmt::format("{:.1f} us", ca.microseconds));
  add("file size", sb, sa, human_bytes(sb), human_bytes(sa));
  return to_string(table);
}

void print(const OptimizeFlags& flags, const Outcome& o, const cost::CostModel& model) {
  const auto& s = o.report.search;
  fmt::print("{}", table_of(o));
  for (const auto& [rule, n] : s.applied) fmt::print("applied {}x {}\n", n, rule);
  fmt::print("{} rules, {} graphs expanded, {} candidates, stopped: {}; {:.1f} s, peak {}\n",
             o.rules, s.expanded, s.candidates, rewrite::to_string(s.stop), o.seconds,
             human_bytes(static_cast<double>(peak_bytes())));
  fmt::print("cost model: {}\n", model.description());
  if (o.check) fmt::print("check: {}\n", describe(*o.check));
  fmt::print("wrote {}\n", flags.out);
}

nlohmann::json side(const io::Summary& s, const rewrite::Account& a) {
  return {{"operators", s.operators}, {"parameters", s.parameters},  {"bytes", s.bytes},
          {"calls", a.calls},         {"cost", a.cost.microseconds}, {"flops", a.cost.flops}};
}

nlohmann::json to_json(const OptimizeFlags& flags, const Outcome& o, const cost::CostModel& model) {
  const auto& s = o.report.search;
  nlohmann::json improvements = nlohmann::json::array();
  for (const auto& i : s.improvements)
    improvements.push_back(
        {{"candidate", i.candidate}, {"cost", i.cost}, {"seconds", i.seconds}, {"rule", i.rule}});
  nlohmann::json j = {{"version", REGRAFT_VERSION},
                      {"input", flags.in},
                      {"output", flags.out},
                      {"rules", o.rules},
                      {"cost_model", model.description()},
                      {"before", side(o.before, o.report.before)},
                      {"after", side(o.after, o.report.after)},
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

/// Refuses what could not be written in the end, before the work is done.
Status writable(const std::string& out) {
  auto folder = std::filesystem::path(out).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder))
    return error(folder.string() + ": no such folder");
  if (std::filesystem::is_directory(out)) return error(out + ": is a folder");
  return {};
}

Status certify(const OptimizeFlags& flags, const io::Imported& imported,
               const rewrite::RuleIndex& rules, const Outcome& o) {
  if (flags.certificate.empty()) return {};
  return write_certificate(
      flags.certificate, make_certificate(imported.graph, o.before.opset, rules, o.report.search));
}

}  // namespace

int run_optimize(const OptimizeFlags& flags) {
  auto start = std::chrono::steady_clock::now();
  for (const std::string& file : {flags.out, flags.certificate})
    if (auto status = writable(file); !status) return bad_input(status.error());
  auto rules = load_rules({flags.rules, flags.disabled, flags.bounded});
  if (!rules) return bad_input(rules.error());
  auto imported = io::load(flags.in);
  if (!imported) return bad_input(imported.error());
  Outcome o;
  o.rules = rules->rules().size();
  o.before = io::summarise(*imported, imported->graph);
  cost::Roofline model;
  rewrite::SearchOptions options;
  options.alpha = flags.alpha;
  options.budget = flags.budget;
  options.max_growth = flags.growth;
  options.threads = thread_count(flags.common);
  options.seed = flags.common.seed;
  options.opset = o.before.opset;
  options.verbosity = flags.common.verbosity;
  Stop stop(flags.common.seconds);
  auto report = rewrite::optimize(imported->graph, *rules, model,
                                  *rewrite::make_searcher(flags.search), options, stop);
  if (!report) return bad_input(error(flags.in + ": " + report.error().message));
  o.report = *std::move(report);
  Stop::acknowledge_interrupt();
  if (flags.check > 0) {
    auto check =
        rewrite::compare(imported->graph, o.report.graph, flags.check, flags.common.seed, Stop());
    if (!check) return bad_input(error(flags.in + ": " + check.error().message));
    if (!check->agrees) {
      fmt::print(stderr, "regraft: the check failed, nothing written: {}\n", describe(*check));
      return kFailed;
    }
    if (check->outputs_not_compared > 0)
      fmt::print(stderr, "regraft: warning: the check is incomplete: {}\n", describe(*check));
    o.check = *check;
  }
  o.after = io::summarise(*imported, o.report.graph);
  if (auto status = io::save(*imported, o.report.graph, flags.out); !status)
    return bad_input(status.error());
  if (auto status = certify(flags, *imported, *rules, o); !status) return bad_input(status.error());
  o.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (flags.common.verbosity == Verbosity::Normal) print(flags, o, model);
  if (auto s = write_text(flags.common.json, to_json(flags, o, model).dump(2) + "\n"); !s)
    return bad_input(s.error());
  return kDone;
}

}  // namespace regraft::cli

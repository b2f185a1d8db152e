// Judges the rules of a file and writes the proved ones.
#include "verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/resources.h"
#include "cli/commands.h"
#include "cli/report.h"
#include "ir/text.h"
#include "substitutions/rule_db.h"

namespace regraft::cli {
namespace {

nlohmann::json to_json(const verify::VerifyReport& report) {
  const auto& c = report.counters;
  nlohmann::json rules = nlohmann::json::array();
  for (const Rule& r : report.rules) {
    nlohmann::json domain = nlohmann::json::array();
    for (const Signature& s : r.domain) domain.push_back(s);
    rules.push_back({{"name", r.name},
                     {"reversible", r.both},
                     {"verdict", to_string(r.verdict.kind)},
                     {"detail", r.verdict.detail},
                     {"domain", domain}});
  }
  return {{"candidates", c.candidates},
          {"duplicates", c.duplicates},
          {"trivial", c.trivial},
          {"joined", c.joined},
          {"proved", c.proved},
          {"reversible", c.reversible},
          {"bounded", c.bounded},
          {"tested", c.tested},
          {"refuted", c.refuted},
          {"unknown", c.unknown},
          {"instances", c.instances},
          {"proofs", c.proofs},
          {"disagreements", c.disagreements},
          {"questions", c.oracle.asked},
          {"solver_runs", c.oracle.linear + c.oracle.nonlinear},
          {"seconds", c.seconds},
          {"cpu_seconds", c.cpu_seconds},
          {"peak_bytes", peak_bytes()},
          {"rules", rules}};
}

std::string table_of(const verify::VerifyCounters& c) {
  Table table{{{"verify", "count"}}};
  const std::pair<const char*, uint64_t> rows[] = {
      {"candidates", c.candidates},
      {"duplicates", c.duplicates},
      {"trivial", c.trivial},
      {"joined with their reverse", c.joined},
      {"proved for all sizes", c.proved},
      {"of these in both directions", c.reversible},
      {"proved at some sizes", c.bounded},
      {"tested only", c.tested},
      {"refuted", c.refuted},
      {"unknown", c.unknown},
      {"rule instances", c.instances},
      {"instances proved", c.proofs},
      {"questions", c.oracle.asked},
      {"solver runs", c.oracle.linear + c.oracle.nonlinear}};
  for (const auto& [name, n] : rows) table.rows.push_back({name, fmt::format("{}", n)});
  return to_string(table);
}

}  // namespace

int run_verify(const VerifyFlags& flags) {
  auto file = substitutions::read_candidates(flags.in);
  if (!file) return bad_input(file.error());
  verify::VerifyOptions options;
  options.seed = flags.common.seed;
  options.threads = thread_count(flags.common);
  options.verbosity = flags.common.verbosity;
  Stop stop(flags.common.seconds);
  auto report = verify::verify_rules(file->rules, options, stop);
  if (report.interrupted)
    fmt::print(stderr, "regraft: stopped early; rules not reached are unknown\n");
  if (!flags.out.empty()) {
    substitutions::RuleFile proved;
    proved.generator = file->generator;
    proved.prover = fmt::format("regraft {} {}", REGRAFT_VERSION, verify::solver_version());
    std::copy_if(report.rules.begin(), report.rules.end(), std::back_inserter(proved.rules),
                 [](const Rule& r) {
                   return r.verdict.kind == VerdictKind::ProvedAllSizes ||
                          r.verdict.kind == VerdictKind::ProvedBounded;
                 });
    if (auto s = substitutions::write_rules(flags.out, proved); !s) return bad_input(s.error());
  }
  if (flags.common.verbosity == Verbosity::Normal) {
    for (const Rule& r : report.rules)
      if (r.verdict.kind == VerdictKind::Refuted)
        fmt::print("refuted: {}: {}\n", r.name, r.verdict.detail);
    fmt::print("{}{:.1f} s, {:.1f} s of CPU, peak {}\n", table_of(report.counters),
               report.counters.seconds, report.counters.cpu_seconds,
               human_bytes(static_cast<double>(peak_bytes())));
  }
  if (auto s = write_text(flags.common.json, to_json(report).dump(2) + "\n"); !s)
    return bad_input(s.error());
  if (report.counters.disagreements > 0) return kFailed;
  bool all_proved = report.counters.refuted + report.counters.unknown + report.counters.tested == 0;
  return flags.out.empty() && !all_proved ? kFailed : kDone;
}

}  // namespace regraft::cli

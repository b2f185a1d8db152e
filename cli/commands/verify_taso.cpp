// Judges the rules of TASO's file for all that TASO's matcher lets through.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/host.h"
#include "base/printable.h"
#include "base/resources.h"
#include "cli/support/commands.h"
#include "cli/support/evidence.h"
#include "cli/support/report.h"
#include "ir/rule/text.h"
#include "substitutions/taso.h"
#include "verify/forms.h"

namespace regraft::cli {
namespace {

using verify::MatchedFinding;

/// "proved", "proved under a condition", "refuted" or "unknown".
std::string verdict_of(const MatchedFinding& f) {
  if (is_for_all_sizes(f.matched.kind)) return "proved";
  if (!f.conditions.empty()) return "proved under a condition";
  return f.matched.kind == VerdictKind::Refuted ? "refuted" : "unknown";
}

std::string line_of(const std::string& name, const MatchedFinding& f) {
  std::string s = name + ": " + verdict_of(f);
  if (!f.conditions.empty()) s += fmt::format(": {}", fmt::join(f.conditions, "; "));
  if (f.matched.detail.empty()) return s;
  const char* why = f.conditions.empty()                     ? ": "
                    : f.matched.kind == VerdictKind::Refuted ? "; refuted without: "
                                                             : "; without: ";
  return s + why + f.matched.detail;
}

nlohmann::json record(size_t index, const std::string& name, const MatchedFinding& f) {
  bool refuted = f.matched.kind == VerdictKind::Refuted;
  nlohmann::json j = {{"index", index},
                      {"name", name},
                      {"verdict", verdict_of(f)},
                      {"scope", "wherever TASO's matcher applies it; all sizes, real arithmetic"},
                      {"conditions", f.conditions},
                      {"broadcasts", f.broadcasts},
                      {"counterexample", refuted ? f.matched.detail : ""},
                      {"detail", refuted ? "" : f.matched.detail},
                      {"forms_proved", f.forms_proved},
                      {"forms_refuted", f.forms_refuted},
                      {"rule", to_string(f.meant.rule)},
                      {"milliseconds", f.milliseconds}};
  if (f.counterexample) {
    j["evidence"] = json_of(*f.counterexample);
    j["counterexample_rule"] = to_string(f.refuted);
  }
  return j;
}

nlohmann::json record(const substitutions::TasoLeftOut& r) {
  return {{"index", r.index}, {"name", r.name}, {"verdict", "left out"}, {"detail", r.reason}};
}

/// One record for each rule of the file, in its order.
nlohmann::json records(const std::vector<substitutions::TasoCase>& cases,
                       const std::vector<substitutions::TasoLeftOut>& left_out,
                       const std::vector<MatchedFinding>& findings) {
  std::vector<nlohmann::json> all(cases.size() + left_out.size());
  for (size_t k = 0; k < cases.size(); ++k)
    all.at(cases[k].index) = record(cases[k].index, cases[k].rule.name, findings[k]);
  for (const auto& r : left_out) all.at(r.index) = record(r);
  return all;
}

Status write_proved(OutputFile& out, const std::vector<MatchedFinding>& findings) {
  if (out.path().empty()) return {};
  substitutions::RuleFile file;
  file.generator = "taso";
  file.prover = prover_name();
  for (const MatchedFinding& f : findings)
    if (is_for_all_sizes(f.meant.rule.verdict.kind)) file.rules.push_back(f.meant.rule);
  return substitutions::write_rules(out, file);
}

}  // namespace

int run_verify_taso(const VerifyFlags& flags) {
  auto start = std::chrono::steady_clock::now();
  auto read = substitutions::read_taso_cases(flags.in[0]);
  if (!read) return bad_input(read.error());
  std::vector<verify::Matched> rules;
  for (const auto& c : read->cases) rules.push_back({c.rule, c.forms, c.meaning});
  verify::VerifyOptions options;
  options.seed = flags.common.seed;
  options.threads = thread_count(flags.common);
  options.verbosity = flags.common.verbosity;
  auto out = OutputFile::open(flags.out);
  if (!out) return bad_input(out.error());
  auto machine_report = OutputFile::open(flags.common.json);
  if (!machine_report) return bad_input(machine_report.error());
  Stop stop(flags.common.seconds);
  auto findings = verify::verify_matched(
      rules, options, flags.out.empty() ? verify::Meant::WhereNeeded : verify::Meant::Always, stop);
  if (stop.must_end()) tell("stopped early; rules not reached are unknown");
  if (auto s = write_proved(*out, findings); !s) return bad_input(s.error());
  std::map<std::string, size_t> counts;
  for (size_t k = 0; k < findings.size(); ++k) {
    const std::string& name = rules[k].rule.name;
    ++counts[verdict_of(findings[k])];
    if (flags.common.verbosity == Verbosity::Normal)
      fmt::print(results(), "{}\n", printable(line_of(name, findings[k])));
  }
  for (const auto& r : read->skipped)
    fmt::print(results(), "left out {}\n", printable(r.name + ": " + r.reason));
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (flags.common.verbosity == Verbosity::Normal) {
    std::string total;
    for (const auto& [verdict, n] : counts) total += fmt::format(", {} {}", n, verdict);
    fmt::print(results(), "{} rules{}, {} left out; {:.1f} s\n", findings.size(), total,
               read->skipped.size(), seconds);
  }
  nlohmann::json report = {{"counts", counts},
                           {"left_out", read->skipped.size()},
                           {"seconds", seconds},
                           {"peak_bytes", peak_bytes()},
                           {"rules", records(read->cases, read->skipped, findings)}};
  Status written = machine_report->write(to_text(report, 2));
  if (written) written = commit_all({&*out, &*machine_report});
  if (!written) return bad_input(written.error());
  if (Stop::was_interrupted()) return kInterrupted;
  return flags.out.empty() && counts["proved"] < findings.size() ? kFailed : kDone;
}

}  // namespace regraft::cli

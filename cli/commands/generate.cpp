// Enumerates candidates and writes them to a rule file.
#include "gen/generate.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/files/input_file.h"
#include "base/files/output_file.h"
#include "base/host.h"
#include "base/resources.h"
#include "cli/fleet/fleet_run.h"
#include "cli/support/commands.h"
#include "cli/support/generate_checkpoint.h"
#include "cli/support/model_files.h"
#include "cli/support/report.h"
#include "ir/rule/text.h"
#include "substitutions/rule_db.h"

namespace regraft::cli {
namespace {

using Rows = std::vector<std::pair<const char*, uint64_t>>;

Rows counters(const gen::GenerateReport& r) {
  const gen::DistilCounts& d = r.distilled;
  return {{"operator applications", r.applications},
          {"evaluations", r.evaluations},
          {"classes of equal values", r.classes},
          {"pairs", d.pairs},
          {"removed: commutativity, another name of a call", d.alias},
          {"removed: a group with other names", d.renamed},
          {"removed: followers of equal calls", d.followers},
          {"removed: renaming", d.renaming},
          {"removed: common subgraph", d.common},
          {"removed: follows from several rules", d.derivable},
          {"removed: not equal on other inputs", d.chance},
          {"removed: facts about constants", d.constants},
          {"removed: false at other shapes", d.other_shapes},
          {"generalised", d.generalised},
          {"rules removed: the right side contains the left", d.grows},
          {"rules removed: the same after generalisation", r.removed_duplicate},
          {"rules removed: follow from smaller ones", r.removed_derivable},
          {"of these with several outputs", r.merges},
          {"candidates", r.candidates.size()}};
}

Rows audit_counters(const gen::AuditCounts& a) {
  return {{"random pairs", a.pairs},
          {"derived from the candidates, in general", a.derived},
          {"derived at the sizes of the enumeration", a.derived_as_found},
          {"false at other shapes", a.coincidences},
          {"open", a.open.size()}};
}

/// What the pairs that were drawn say of the candidates.
void print_audit(const gen::AuditCounts& a) {
  Table table{{{"audit", "count"}}};
  for (const auto& [name, n] : audit_counters(a)) table.rows.push_back({name, std::to_string(n)});
  fmt::print(results(), "{}", to_string(table));
  for (const Rule& r : a.open) fmt::print(results(), "open: {}\n", to_string(r));
}

nlohmann::json to_json(const gen::GenerateReport& r) {
  nlohmann::json j = {{"cpu_seconds", r.cpu_seconds},
                      {"wall_seconds", r.wall_seconds},
                      {"peak_bytes", r.peak_bytes},
                      {"enumerate_cpu_seconds", r.enumerate_cpu_seconds},
                      {"enumerate_wall_seconds", r.enumerate_wall_seconds},
                      {"enumerate_peak_bytes", r.enumerate_peak_bytes},
                      {"error_bound", r.error_bound},
                      {"complete", r.ended == gen::Ended::Complete}};
  for (const auto& [name, n] : counters(r)) j[name] = n;
  for (const auto& [name, n] : audit_counters(r.audit)) j["audit"][name] = n;
  return j;
}

/// What a checkpoint must agree with to be resumed.
GenerateRun run_of(const GenerateFlags& flags) {
  return {flags.ops, flags.max_size, flags.common.seed};
}

Result<gen::Checkpoint> read_checkpoint(const GenerateFlags& flags) {
  constexpr size_t kMaxBytes = size_t{1} << 30;
  RETURN_IF_ERROR(require_regular(flags.checkpoint));
  std::error_code none;  // what cannot be looked at cannot be written either
  if (flags.checkpoint.empty() || !std::filesystem::exists(flags.checkpoint, none))
    return gen::Checkpoint();
  ASSIGN_OR_RETURN(std::string text, read_file(flags.checkpoint, kMaxBytes));
  return parse_checkpoint(text, run_of(flags), flags.checkpoint);
}

void explain_end(const GenerateFlags& flags, gen::Ended ended) {
  if (ended == gen::Ended::Complete) return;
  const char* why = ended == gen::Ended::OutOfMemory ? "the memory limit was reached" : "stopped";
  tell(std::string(why) + "; the candidates are those found so far");
  if (!flags.checkpoint.empty() && ended == gen::Ended::Stopped)
    tell("the same command goes on from " + flags.checkpoint);
}

/// How the file was made, for who wants to make it again.
std::string provenance(const GenerateFlags& flags, const gen::GenerateReport& r) {
  return fmt::format(
      "generate --ops {} --max-size {} --seed {}{}; mod 2^61-3153, {} trials, P(two "
      "values taken for one) <= {:.0e}",
      flags.ops, flags.max_size, flags.common.seed,
      r.ended == gen::Ended::Complete ? "" : " (incomplete)", gen::GenerateOptions().trials,
      r.error_bound);
}

}  // namespace

int run_generate(const GenerateFlags& flags) {
  auto distinct = require_distinct({}, {{"the candidates", flags.out},
                                        {"the checkpoint", flags.checkpoint},
                                        {"the report", flags.common.json}});
  if (!distinct) return bad_input(distinct.error());
  gen::GenerateOptions options;
  options.ops = flags.ops;
  options.max_size = flags.max_size;
  options.seed = flags.common.seed;
  options.threads = thread_count(flags.common);
  int64_t memory = memory_limit(flags.common);
  options.max_bytes = static_cast<uint64_t>(std::max<int64_t>(memory - resident_bytes(), 1));
  options.verbosity = flags.common.verbosity;
  options.audit = flags.audit;
  auto resume = read_checkpoint(flags);
  if (!resume) return bad_input(resume.error());
  options.resume = *std::move(resume);
  bool warned = false;
  if (!flags.checkpoint.empty())
    options.save = [&](const gen::Checkpoint& c) {
      Status kept = write_file(flags.checkpoint, to_text(c, run_of(flags)));
      if (!kept && !std::exchange(warned, true))
        tell("warning: no progress is kept: " + kept.error().message);
    };
  if (auto kept = OutputFile::open(flags.checkpoint); !kept) return bad_input(kept.error());
  auto candidates = OutputFile::open(flags.out);
  if (!candidates) return bad_input(candidates.error());
  auto machine_report = OutputFile::open(flags.common.json);
  if (!machine_report) return bad_input(machine_report.error());
  Stop stop(flags.common.seconds, memory);
  auto fleet = FleetRun::begin(flags.fleet, flags.common);
  if (!fleet) return bad_input(fleet.error());
  if (*fleet) options.helpers = (*fleet)->helpers("fleet", 1, stop);
  auto report = gen::generate(options, stop);
  if (!report) return bad_input(report.error());
  Stop::acknowledge_interrupt();
  explain_end(flags, report->ended);
  substitutions::RuleFile file;
  file.generator = provenance(flags, *report);
  file.rules = report->candidates;
  auto written = substitutions::write_rules(*candidates, file);
  if (written) written = machine_report->write(to_text(to_json(*report), 2));
  if (written) written = commit_all({&*candidates, &*machine_report});
  if (!written) return bad_input(written.error());
  if (flags.common.verbosity == Verbosity::Normal) {
    Table table{{{"generate " + flags.ops, "count"}}};
    for (const auto& [name, n] : counters(*report))
      table.rows.push_back({name, fmt::format("{}", n)});
    fmt::print(results(),
               "{}{:.1f} s, {:.1f} s of CPU, peak {}; enumeration: {:.2f} s of CPU, peak {}\n",
               to_string(table), report->wall_seconds, report->cpu_seconds,
               human_bytes(static_cast<double>(report->peak_bytes)), report->enumerate_cpu_seconds,
               human_bytes(static_cast<double>(report->enumerate_peak_bytes)));
    if (*fleet) fmt::print(results(), "{}", (*fleet)->summary());
    if (flags.audit > 0) print_audit(report->audit);
  }
  return kDone;
}

}  // namespace regraft::cli

// Enumerates candidates and writes them to a rule file.
#include "gen/generate.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/report.h"
#include "substitutions/rule_db.h"

namespace regraft::cli {
namespace {

using Rows = std::vector<std::pair<const char*, uint64_t>>;

Rows counters(const gen::GenerateReport& r) {
  return {{"operator applications", r.applications},
          {"evaluations", r.evaluations},
          {"classes of equal values", r.classes},
          {"pairs", r.raw_pairs},
          {"removed: renaming", r.removed_renaming},
          {"removed: trivial", r.removed_trivial},
          {"removed: direction", r.removed_direction},
          {"removed: common subgraph", r.removed_common},
          {"removed: instance of another", r.removed_instance},
          {"removed: follows from others", r.removed_derivable},
          {"removed: false at other shapes", r.removed_other_shapes},
          {"removed: same after generalisation", r.removed_duplicate},
          {"of these with several outputs", r.merges},
          {"candidates", r.candidates.size()}};
}

nlohmann::json to_json(const gen::GenerateReport& r) {
  nlohmann::json j = {{"cpu_seconds", r.cpu_seconds},
                      {"wall_seconds", r.wall_seconds},
                      {"peak_bytes", r.peak_bytes},
                      {"stopped", r.stopped}};
  for (const auto& [name, n] : counters(r)) j[name] = n;
  return j;
}

}  // namespace

int run_generate(const GenerateFlags& flags) {
  gen::GenerateOptions options;
  options.ops = flags.ops;
  options.max_size = flags.max_size;
  options.seed = flags.common.seed;
  options.threads = thread_count(flags.common);
  options.verbosity = flags.common.verbosity;
  Stop stop(flags.common.seconds);
  auto report = gen::generate(options, stop);
  if (!report) return bad_input(report.error());
  if (report->stopped)
    fmt::print(stderr, "regraft: stopped early; the candidates are those found so far\n");
  substitutions::RuleFile file;
  file.generator = fmt::format("{} size<={}", flags.ops, flags.max_size);
  file.rules = report->candidates;
  if (auto status = substitutions::write_rules(flags.out, file); !status)
    return bad_input(status.error());
  if (flags.common.verbosity == Verbosity::Normal) {
    Table table{{{"generate " + flags.ops, "count"}}};
    for (const auto& [name, n] : counters(*report))
      table.rows.push_back({name, fmt::format("{}", n)});
    fmt::print("{}{:.1f} s, {:.1f} s of CPU, peak {}\n", to_string(table), report->wall_seconds,
               report->cpu_seconds, human_bytes(static_cast<double>(report->peak_bytes)));
  }
  if (auto s = write_text(flags.common.json, to_json(*report).dump(2) + "\n"); !s)
    return bad_input(s.error());
  return kDone;
}

}  // namespace regraft::cli

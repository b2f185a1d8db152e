#include "cli/bench/runs.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/support/json_file.h"
#include "cli/support/report.h"

namespace regraft::cli {
namespace {

using nlohmann::json;

constexpr std::string_view kFirstLine = R"({"format":"regraft-runs"})";

BenchRun from_json(const json& j) {
  BenchRun r{j.at("key"),        j.at("graph"),   j.at("method"), j.at("training"),
             j.at("seed"),       j.at("before"),  j.at("after"),  j.at("expanded"),
             j.at("candidates"), j.at("seconds"), j.at("stop"),   {},
             j.at("applied")};
  for (const json& p : j.at("curve")) r.curve.push_back({p.at(0), p.at(1), p.at(2)});
  return r;
}

}  // namespace

json to_json(const BenchRun& r) {
  json curve = json::array();
  for (const CurvePoint& p : r.curve) curve.push_back({p.candidate, p.seconds, p.cost});
  return {{"key", r.key},           {"graph", r.graph},       {"method", r.method},
          {"training", r.training}, {"seed", r.seed},         {"before", r.before},
          {"after", r.after},       {"expanded", r.expanded}, {"candidates", r.candidates},
          {"seconds", r.seconds},   {"stop", r.stop},         {"curve", curve},
          {"applied", r.applied}};
}

Result<KeptRuns> KeptRuns::open(const std::string& path) {
  KeptRuns kept;
  std::ifstream in(path);
  std::string line, text = std::string(kFirstLine) + "\n";
  for (int number = 1; !path.empty() && std::getline(in, line); ++number) {
    if (line == kFirstLine && number == 1) continue;
    if (in.eof() && number > 1) break;  // cut off
    ASSIGN_OR_RETURN(BenchRun run,
                     read_json(line, fmt::format("{}:{}", path, number), "a run",
                               [](const json& j) -> Result<BenchRun> { return from_json(j); }));
    text += line + "\n";
    kept.runs_[run.key] = std::move(run);
  }
  ASSIGN_OR_RETURN(kept.lines_, Journal::open(path, text));
  return kept;
}

const BenchRun* KeptRuns::find(const std::string& key) const {
  auto at = runs_.find(key);
  return at == runs_.end() ? nullptr : &at->second;
}

Status KeptRuns::add(const BenchRun& run) {
  runs_[run.key] = run;
  std::string line = to_text(to_json(run), -1);
  line.pop_back();
  return lines_.add(line);
}

}  // namespace regraft::cli

#include "rl/training/train.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>

namespace regraft::rl {

Result<TrainLog> TrainLog::open(const std::string& path, int64_t iterations) {
  TrainLog log;
  if (path.empty()) return log;
  std::string kept;
  std::ifstream in(path);
  std::string line;
  for (int64_t k = 0; iterations > 0 && k <= iterations && std::getline(in, line) && !in.eof(); ++k)
    kept += line + "\n";
  log.headed_ = !kept.empty();
  ASSIGN_OR_RETURN(log.lines_, Journal::open(path, kept));
  return log;
}

Status TrainLog::add(int64_t iteration, double seconds, const LogRow& row) {
  if (!std::exchange(headed_, true)) {
    std::string head = "iteration,seconds";
    for (const auto& [name, value] : row) head += "," + name;
    RETURN_IF_ERROR(lines_.add(head));
  }
  std::string line = fmt::format("{},{:.3f}", iteration, seconds);
  for (const auto& [name, value] : row)
    line += std::isnan(value) ? "," : fmt::format(",{:.6g}", value);
  return lines_.add(line);
}

namespace {

constexpr const char* kSetting = "training ";  // before the name, in a state

}  // namespace

Status same_settings(const Checkpoint& state, const std::map<std::string, std::string>& settings) {
  for (const auto& [name, value] : settings) {
    auto at = state.settings.find(kSetting + name);
    if (at == state.settings.end() || at->second == value) continue;
    return error(
        fmt::format("it was begun with {} {}, not {}; go on with that, or start anew with "
                    "another --state",
                    name, at->second, value));
  }
  return {};
}

void add_settings(Checkpoint& state, const std::map<std::string, std::string>& settings) {
  for (const auto& [name, value] : settings) state.settings[kSetting + name] = value;
}

std::string note_of(const LogRow& row) {
  std::string note;
  int shown = 0;
  for (const auto& [name, value] : row) {
    if (std::isnan(value)) continue;
    if (++shown > 5) break;
    note += fmt::format("{}{} {:.4g}", note.empty() ? "" : ", ", name, value);
  }
  return note;
}

}  // namespace regraft::rl

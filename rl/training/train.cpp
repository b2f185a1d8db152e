#include "rl/training/train.h"

#include <fmt/format.h>

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
  for (const auto& [name, value] : row) line += fmt::format(",{:.6g}", value);
  return lines_.add(line);
}

std::string note_of(const LogRow& row) {
  std::string note;
  for (size_t k = 0; k < std::min<size_t>(5, row.size()); ++k)
    note += fmt::format("{}{} {:.4g}", k ? ", " : "", row[k].first, row[k].second);
  return note;
}

}  // namespace regraft::rl

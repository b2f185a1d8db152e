#include "rl/train.h"

#include <fmt/format.h>

namespace regraft::rl {

Result<TrainLog> TrainLog::open(const std::string& path, int64_t iterations) {
  TrainLog log;
  log.path_ = path;
  if (path.empty()) return log;
  std::vector<std::string> lines;
  {
    std::ifstream in(path);
    std::string line;
    while (static_cast<int64_t>(lines.size()) <= iterations && std::getline(in, line))
      lines.push_back(line);
  }
  if (iterations == 0) lines.clear();
  log.out_.open(path);
  if (!log.out_) return error(path + ": cannot be written");
  for (const std::string& line : lines) log.out_ << line << "\n";
  log.headed_ = !lines.empty();
  return log;
}

Status TrainLog::add(int64_t iteration, double seconds, const LogRow& row) {
  if (path_.empty()) return {};
  if (!std::exchange(headed_, true)) {
    out_ << "iteration,seconds";
    for (const auto& [name, value] : row) out_ << "," << name;
    out_ << "\n";
  }
  out_ << fmt::format("{},{:.3f}", iteration, seconds);
  for (const auto& [name, value] : row) out_ << fmt::format(",{:.6g}", value);
  out_ << "\n" << std::flush;
  return out_ ? Status() : error(path_ + ": cannot be written");
}

std::string note_of(const LogRow& row) {
  std::string note;
  for (size_t k = 0; k < std::min<size_t>(5, row.size()); ++k)
    note += fmt::format("{}{} {:.4g}", k ? ", " : "", row[k].first, row[k].second);
  return note;
}

}  // namespace regraft::rl

#pragma once
// One line on stderr that says how far long work is: done / total, rate, time left.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace regraft {

enum class Verbosity : uint8_t { Quiet, Normal };

/// Shows nothing when quiet, or before a second has passed; redraws one line on a terminal and
/// prints a line every few seconds elsewhere. Inside another program it is told instead, whatever
/// the verbosity (report_progress). Thread-safe.
class Progress {
 public:
  /// `total` 0: unknown. `unit` as in "rules".
  Progress(std::string label, std::string unit, uint64_t total, Verbosity verbosity);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void add(uint64_t steps = 1);
  /// Extra text at the end of the line: "best 12.3 us".
  void note(const std::string& text);
  uint64_t done() const { return done_; }

 private:
  void draw(bool last);
  std::string label_, unit_, note_;
  std::atomic<uint64_t> done_{0};
  const uint64_t total_;
  Verbosity verbosity_;
  bool terminal_;
  bool drawn_ = false;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point start_, last_;
};

}  // namespace regraft

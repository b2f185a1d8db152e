#include "base/progress.h"

#include <fmt/format.h>
#include <cstdio>

#include "base/host.h"
#include "base/printable.h"
#include "base/terminal.h"

namespace regraft {
namespace {
using Clock = std::chrono::steady_clock;
double seconds_between(Clock::time_point a, Clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}
}  // namespace

Progress::Progress(std::string label, std::string unit, uint64_t total, Verbosity verbosity)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      verbosity_(verbosity),
      terminal_(redraws(stderr)),
      start_(Clock::now()),
      last_(start_) {}

Progress::~Progress() {
  std::lock_guard lock(mutex_);
  if (drawn_) draw(true);
}

void Progress::add(uint64_t steps) {
  done_ += steps;
  const bool watched = hosted();
  if (verbosity_ == Verbosity::Quiet && !watched) return;
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  auto now = Clock::now();
  if (watched) {
    if (done_ > steps && seconds_between(last_, now) < 0.1) return;
    last_ = now;
    report_progress(label_, unit_, note_, done_, total_);
    return;
  }
  if (seconds_between(last_, now) < (terminal_ ? 0.2 : 5.0) || seconds_between(start_, now) < 1)
    return;
  last_ = now;
  draw(false);
}

void Progress::note(const std::string& text) {
  std::lock_guard lock(mutex_);
  note_ = printable(text);
}

void Progress::draw(bool last) {
  double elapsed = seconds_between(start_, Clock::now());
  double rate = elapsed > 0 ? static_cast<double>(done_) / elapsed : 0;
  std::string line = label_ + ": " + fmt::format("{}", done_.load());
  if (total_ > 0)
    line += fmt::format("/{} ({:.0f} %)", total_,
                        100.0 * static_cast<double>(done_) / static_cast<double>(total_));
  line += fmt::format(" {}, {:.0f}/s", unit_, rate);
  if (!last && total_ > done_ && rate > 0)
    line += fmt::format(", {:.0f} s left", static_cast<double>(total_ - done_) / rate);
  if (last) line += fmt::format(", {:.1f} s", elapsed);
  if (!note_.empty()) line += ", " + note_;
  // A line that wraps could not be drawn anew.
  if (terminal_) line = cut(line, columns(stderr) - 1);
  line = (terminal_ ? "\r\033[K" : "") + line + (terminal_ && !last ? "" : "\n");
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace regraft

#pragma once
// The clock of all timings.
#include <chrono>
#include <ctime>

namespace regraft::cost::cpu {

/// Microseconds since it was made. With one thread, time in which other processes had the processor
/// does not count. Not to be shared between threads.
class Stopwatch {
 public:
  explicit Stopwatch(int threads) : alone_(threads == 1) {
    if (alone_) own_ = own_time();
    wall_ = Clock::now();
  }
  double microseconds() const {
    double wall = std::chrono::duration<double, std::micro>(Clock::now() - wall_).count();
    if (!alone_) return wall;
    double own = own_time() - own_;
    return own < wall ? own : wall;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double own_time() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) * 1e-3;
  }
  bool alone_;
  double own_ = 0;
  Clock::time_point wall_;
};

}  // namespace regraft::cost::cpu

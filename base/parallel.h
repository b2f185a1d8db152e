#pragma once
// Threads: the only place that includes TBB.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>

namespace regraft {

/// Number of threads to use when the user does not say.
int default_threads();

/// body(0) .. body(n-1), each once, on up to `threads` threads, in grains of `grain`; returns when
/// all are done. The body must not throw.
void parallel_for(size_t n, int threads, const std::function<void(size_t)>& body, size_t grain = 1);

/// What long work may use, and when it must end: asked for (from any thread or a signal), out of
/// time, or out of memory. One value, made by the command line, is passed down to every stage.
class Stop {
 public:
  Stop() = default;
  /// Stops `seconds` from now, or once the process holds nearly `memory` bytes; 0 or less: no such
  /// limit.
  explicit Stop(double seconds, int64_t memory = 0);
  /// Stops when `outer` does, and `reserve` seconds before its time is up. `outer` outlives this.
  Stop(const Stop& outer, double reserve);
  /// Stops when `outer` does, and `seconds` from now at the latest; 0 or less: no such limit.
  static Stop within(const Stop& outer, double seconds);
  bool requested() const;
  bool out_of_time() const;
  /// Looked at a few times a second.
  bool out_of_memory() const;
  /// Any of these.
  bool must_end() const { return requested() || out_of_time() || out_of_memory(); }
  /// Which of these, for a message: "interrupted", "out of time", "out of memory".
  const char* reason() const;
  double seconds_left() const;  ///< infinity: no limit
  int64_t memory_left() const;  ///< bytes that may still be taken; the largest number: no limit
  void request() { requested_.store(true, std::memory_order_relaxed); }
  /// True after SIGINT, SIGTERM or SIGHUP once install_interrupt_handler was called.
  static bool interrupted();
  /// The work that was to stop has stopped; what follows (writing its result) goes on.
  static void acknowledge_interrupt();
  /// interrupted(), at any time: what the process says in the end.
  static bool was_interrupted();

 private:
  using Clock = std::chrono::steady_clock;
  Stop(const Stop& outer, Clock::time_point latest);
  std::atomic<bool> requested_{false};
  const Stop* outer_ = nullptr;
  Clock::time_point deadline_ = Clock::time_point::max();
  int64_t memory_ = 0;
  mutable std::atomic<int64_t> looked_{0};  // when memory was looked at last, in ticks
  mutable std::atomic<bool> full_{false};   // what was seen then
};
/// The first SIGINT, SIGTERM or SIGHUP asks all work to stop and finish cleanly; the second kills
/// the process. A SIGHUP that is ignored (nohup) stays so. SIGPIPE and SIGXFSZ are ignored: a
/// reader that went away and a file that may not grow are errors of writing.
void install_interrupt_handler();

}  // namespace regraft

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

/// When long work must end: asked for (from any thread or a signal), or out of time.
class Stop {
 public:
  Stop() = default;
  /// Stops `seconds` from now; 0 or less: no limit.
  explicit Stop(double seconds);
  bool requested() const;
  bool out_of_time() const;
  /// Either of these.
  bool must_end() const { return requested() || out_of_time(); }
  void request() { requested_.store(true, std::memory_order_relaxed); }
  /// True after SIGINT, SIGTERM or SIGHUP once install_interrupt_handler was called.
  static bool interrupted();
  /// The work that was to stop has stopped; what follows (writing its result) goes on.
  static void acknowledge_interrupt();
  /// interrupted(), at any time: what the process says in the end.
  static bool was_interrupted();

 private:
  std::atomic<bool> requested_{false};
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
};
/// The first SIGINT, SIGTERM or SIGHUP asks all work to stop and finish cleanly; the second kills the
/// process. A SIGHUP that is ignored (nohup) stays so. SIGPIPE and SIGXFSZ are ignored: a reader that
/// went away and a file that may not grow are errors of writing.
void install_interrupt_handler();

}  // namespace regraft

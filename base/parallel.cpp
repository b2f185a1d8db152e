#include "base/parallel.h"

#include <algorithm>
#include <csignal>
#include <thread>

#ifdef REGRAFT_PARALLEL_TBB
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#else
#include <vector>
#endif

namespace regraft {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
volatile std::sig_atomic_t interrupt_pending = 0, interrupt_seen = 0;

void on_interrupt(int) {
  interrupt_seen = 1;
  interrupt_pending = 1;
  for (int s : kSignals) std::signal(s, SIG_DFL);  // a second one kills
}

}  // namespace

int default_threads() {
  unsigned n = std::thread::hardware_concurrency();
  return n == 0 ? 1 : static_cast<int>(n);
}

#ifdef REGRAFT_PARALLEL_TBB
void parallel_for(size_t n, int threads, const std::function<void(size_t)>& body, size_t grain) {
  if (threads <= 1 || n <= grain) {
    for (size_t i = 0; i < n; ++i) body(i);
    return;
  }
  tbb::task_arena arena(threads);
  arena.execute([&] {
    tbb::parallel_for(tbb::blocked_range<size_t>(0, n, grain), [&](const auto& range) {
      for (size_t i = range.begin(); i != range.end(); ++i) body(i);
    });
  });
}
#else  // plain threads: what the thread sanitizer understands
void parallel_for(size_t n, int threads, const std::function<void(size_t)>& body, size_t grain) {
  if (threads <= 1 || n <= grain) {
    for (size_t i = 0; i < n; ++i) body(i);
    return;
  }
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t first; (first = next.fetch_add(grain)) < n;)
      for (size_t i = first; i < std::min(n, first + grain); ++i) body(i);
  };
  std::vector<std::jthread> pool;
  for (int t = 1; t < threads; ++t) pool.emplace_back(work);
  work();
}
#endif

Stop::Stop(double seconds) {
  if (seconds > 0)
    deadline_ = std::chrono::steady_clock::now() +
                std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                    std::chrono::duration<double>(seconds));
}

bool Stop::requested() const { return requested_.load(std::memory_order_relaxed) || interrupted(); }
bool Stop::out_of_time() const { return std::chrono::steady_clock::now() >= deadline_; }
bool Stop::interrupted() { return interrupt_pending != 0; }
void Stop::acknowledge_interrupt() { interrupt_pending = 0; }
bool Stop::was_interrupted() { return interrupt_seen != 0; }

void install_interrupt_handler() {
  for (int s : {SIGPIPE, SIGXFSZ}) std::signal(s, SIG_IGN);
  for (int s : kSignals)  // glibc's signal() restarts calls: reading and writing go on
    if (std::signal(s, on_interrupt) == SIG_IGN && s == SIGHUP) std::signal(s, SIG_IGN);
}

}  // namespace regraft

#include "base/parallel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/interrupts.h"
#include "base/resources.h"

#ifdef REGRAFT_PARALLEL_TBB
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#else
#include <vector>
#endif

namespace regraft {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
std::atomic<bool> interrupt_pending{false}, interrupt_seen{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal's handler sets them

thread_local int uninterrupted = 0;  // of Uninterrupted that live

void on_interrupt(int) {
  request_interrupt();
  for (int s : kSignals) std::signal(s, SIG_DFL);  // a second one kills
}

/// While one lives, this thread is as uninterrupted as the one whose work it does.
class WorkOf {
 public:
  explicit WorkOf(int caller) : before_(std::exchange(uninterrupted, caller)) {}
  WorkOf(const WorkOf&) = delete;
  WorkOf& operator=(const WorkOf&) = delete;
  ~WorkOf() { uninterrupted = before_; }

 private:
  int before_;
};

}  // namespace

int default_threads() {
  static const unsigned n = std::thread::hardware_concurrency();  // asks the system's files
  return n == 0 ? 1 : static_cast<int>(n);
}

#ifdef REGRAFT_PARALLEL_TBB
void parallel_for(size_t n, int threads, const std::function<void(size_t)>& body, size_t grain) {
  if (threads <= 1 || n <= grain) {
    for (size_t i = 0; i < n; ++i) body(i);
    return;
  }
  // More threads than there are cores are not worth the library's warning.
  std::optional<tbb::global_control> allowed;
  if (threads > default_threads())
    allowed.emplace(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(threads));
  tbb::task_arena arena(threads);
  arena.execute([&, caller = uninterrupted] {
    tbb::parallel_for(tbb::blocked_range<size_t>(0, n, grain), [&](const auto& range) {
      WorkOf work(caller);
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
  auto work = [&, caller = uninterrupted] {
    WorkOf work_of(caller);
    for (size_t first; (first = next.fetch_add(grain)) < n;)
      for (size_t i = first; i < std::min(n, first + grain); ++i) body(i);
  };
  std::vector<std::jthread> pool;
  for (int t = 1; t < threads; ++t) pool.emplace_back(work);
  work();
}
#endif

namespace {

/// So many seconds from now; the clock's last point where there is no limit.
std::chrono::steady_clock::time_point after(double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr double kForever = 1e9;  // seconds; more does not fit into the clock
  if (!(seconds > 0 && seconds < kForever)) return Clock::time_point::max();
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

Stop::Stop(double seconds, int64_t memory)
    : deadline_(after(seconds)), memory_(std::max<int64_t>(memory, 0)) {}

Stop::Stop(const Stop& outer, Clock::time_point latest)
    : outer_(&outer), deadline_(std::min(outer.deadline_, latest)), memory_(outer.memory_) {}

Stop Stop::within(const Stop& outer, double seconds) { return {outer, after(seconds)}; }

Stop::Stop(const Stop& outer, double reserve)
    : outer_(&outer), deadline_(outer.deadline_), memory_(outer.memory_) {
  if (deadline_ != Clock::time_point::max())
    deadline_ -=
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(reserve));
}

bool Stop::requested() const {
  return requested_.load(std::memory_order_relaxed) || interrupted() ||
         (outer_ && outer_->requested());
}

bool Stop::out_of_time() const {
  return deadline_ != Clock::time_point::max() && Clock::now() >= deadline_;
}

double Stop::seconds_left() const {
  if (deadline_ == Clock::time_point::max()) return HUGE_VAL;
  return std::max(0.0, std::chrono::duration<double>(deadline_ - Clock::now()).count());
}

int64_t Stop::memory_left() const {
  if (memory_ == 0) return std::numeric_limits<int64_t>::max();
  return std::max<int64_t>(0, memory_ - resident_bytes());
}

bool Stop::out_of_memory() const {
  if (memory_ == 0) return false;
  constexpr auto kEvery = std::chrono::milliseconds(50);
  int64_t now = Clock::now().time_since_epoch().count(), last = looked_.load();
  bool due = now - last >= std::chrono::duration_cast<Clock::duration>(kEvery).count();
  if (due && looked_.compare_exchange_strong(last, now)) full_ = memory_left() < memory_ / 8;
  return full_;
}

const char* Stop::reason() const {
  if (requested()) return "interrupted";
  return out_of_time() ? "out of time" : "out of memory";
}

bool Stop::interrupted() { return interrupt_pending && uninterrupted == 0; }
Uninterrupted::Uninterrupted() { ++uninterrupted; }
Uninterrupted::~Uninterrupted() { --uninterrupted; }
void Stop::acknowledge_interrupt() { interrupt_pending = false; }
bool Stop::was_interrupted() { return interrupt_seen; }
void request_interrupt() { interrupt_seen = interrupt_pending = true; }
void forget_interrupts() { interrupt_seen = interrupt_pending = false; }

namespace {

/// Installs `handler`, to run on a stack of its own: code that a library generates may use the
/// stack pointer for something else. A signal to the process comes to the main thread, whose stack
/// it is. Calls that a signal interrupts go on.
void install(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  CHECK(sigaction(signal, &action, nullptr) == 0);
}

}  // namespace

void install_interrupt_handler() {
  static std::array<char, 1 << 16> stack;
  stack_t own{};
  own.ss_sp = stack.data();
  own.ss_size = stack.size();
  CHECK(sigaltstack(&own, nullptr) == 0);
  for (int s : {SIGPIPE, SIGXFSZ}) std::signal(s, SIG_IGN);
  for (int s : kSignals) {
    struct sigaction before {};
    sigaction(s, nullptr, &before);
    if (s != SIGHUP || before.sa_handler != SIG_IGN) install(s, on_interrupt);
  }
}

}  // namespace regraft

#include "fleet/worker.h"

#include <algorithm>
#include <thread>

namespace regraft::fleet {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kIdleFirst{2}, kIdleMost{100};  // between two looks
constexpr int kPart = 8;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Clock::duration pause_since(Clock::time_point last, std::chrono::milliseconds shortest,
                            std::chrono::milliseconds longest) {
  return std::clamp<Clock::duration>((Clock::now() - last) / kPart, shortest, longest);
}

Result<bool> work_once(TaskStore& store, const Perform& perform, const Stop& stop,
                       WorkCounts& counts) {
  ASSIGN_OR_RETURN(auto claim, store.claim());
  if (!claim) return false;
  auto start = Clock::now();
  for (const Task& task : claim->tasks) {
    std::string name = store.name_of(task);
    if (store.has_result(name)) {
      ++counts.known;
      continue;
    }
    ASSIGN_OR_RETURN(std::string result, perform(task, stop));
    if (stop.must_end()) return false;  // perhaps in the midst of it
    RETURN_IF_ERROR(store.put_result(name, result));
    ++counts.tasks;
  }
  RETURN_IF_ERROR(store.finish(*claim));
  ++counts.bundles;
  counts.seconds += seconds_since(start);
  return true;
}

Result<WorkCounts> work(TaskStore& store, const Perform& perform, double patience,
                        const Stop& stop) {
  WorkCounts counts;
  auto start = Clock::now();
  bool met = false;  // something to do, or someone who waits for it
  auto last = Clock::now();
  while (!stop.must_end()) {
    ASSIGN_OR_RETURN(bool worked, work_once(store, perform, stop, counts));
    if (worked) {
      last = Clock::now();
      met = true;
      continue;
    }
    ASSIGN_OR_RETURN(auto open, store.offered());
    bool wanted = !open.empty() || store.is_running();
    if (!wanted && (met || seconds_since(start) > patience)) break;
    met = met || wanted;
    std::this_thread::sleep_for(pause_since(last, kIdleFirst, kIdleMost));
  }
  return counts;
}

}  // namespace regraft::fleet

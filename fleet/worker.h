#pragma once
// A worker: takes bundles of tasks and does them until there is nothing left to wait for.
#include <chrono>
#include <functional>

#include "base/parallel.h"
#include "fleet/task_store.h"

namespace regraft::fleet {

/// Does one task. An Error is this worker's, as where a model cannot be read: another may do it.
using Perform = std::function<Result<std::string>(const Task&, const Stop&)>;

struct WorkCounts {
  uint64_t tasks = 0;  ///< done
  uint64_t known = 0;  ///< of bundles that were taken over: done before
  uint64_t bundles = 0;
  double seconds = 0;  ///< at work
};

/// One bundle, where there is one that nobody is at. False: there is none, or `stop` came.
Result<bool> work_once(TaskStore& store, const Perform& perform, const Stop& stop,
                       WorkCounts& counts);

/// Until no run is on and nothing is left to do; at first waits `patience` seconds for either.
Result<WorkCounts> work(TaskStore& store, const Perform& perform, double patience,
                        const Stop& stop);

/// How long to wait between two looks: an eighth of the time since the last one that found
/// something, within these bounds, as what takes long may be noticed late.
std::chrono::steady_clock::duration pause_since(std::chrono::steady_clock::time_point last,
                                                std::chrono::milliseconds shortest,
                                                std::chrono::milliseconds longest);

}  // namespace regraft::fleet

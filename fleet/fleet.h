#pragma once
// One who has tasks done by a fleet, and waits for the results.
#include "base/process/child.h"
#include "base/progress.h"
#include "fleet/worker.h"

namespace regraft::fleet {

struct FleetOptions {
  int workers = 0;                   ///< to start here; 0: this process does tasks itself as well
  std::vector<std::string> command;  ///< of a worker
  Perform perform;                   ///< for this process
  Verbosity verbosity = Verbosity::Normal;
};

struct FleetCounts {
  uint64_t tasks = 0, known = 0;  ///< wanted; of these, done before
  uint64_t bundles = 0, bytes = 0;
  uint64_t lost = 0;  ///< workers of this process that ended before they were asked to
};

/// Not thread-safe. Nothing is lost when this process is killed: what is done stays in the store,
/// and the same run goes on from it.
class Fleet {
 public:
  static Result<std::unique_ptr<Fleet>> begin(TaskStore& store, FleetOptions options);
  ~Fleet();
  /// The results, in order. `weight`: how many tasks are worth a lease of their own. An Error when
  /// `stop` came first, a result was altered, or all workers here ended again and again.
  Result<std::vector<std::string>> run(const std::string& label, const std::vector<Task>& tasks,
                                       size_t weight, const Stop& stop);
  TaskStore& store() { return store_; }
  /// About how many work here and elsewhere, from what the last run() saw; at least 1.
  size_t width() const;
  const FleetCounts& counts() const { return counts_; }

 private:
  Fleet(TaskStore& store, FleetOptions options) : store_(store), options_(std::move(options)) {}
  Status start_worker();
  Status look_after_workers();
  Status help(const Stop& stop);

  TaskStore& store_;
  FleetOptions options_;
  std::unique_ptr<Lease> run_;
  std::vector<Child> workers_;
  FleetCounts counts_;
  uint64_t lost_in_vain_ = 0;  ///< since the last result
  size_t at_work_ = 0;         ///< the most bundles that were held at a time of the last run
};

}  // namespace regraft::fleet

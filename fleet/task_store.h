#pragma once
// Tasks by the digest of their inputs, and their results, in a Storage that a fleet shares.
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/process/task.h"
#include "fleet/lease.h"

namespace regraft::fleet {

/// A task's result is a function of its input, so that it does not matter who makes it, nor how
/// often: that is all that keeps a fleet right. Leases only keep workers from doing the same.
///
/// Folders of the store: `open/` has bundles of tasks to do, `leases/` who is at which, `results/`
/// and `objects/` content by digest, `runs/` leases of the commands that wait for results. All
/// are SHA-256; those of tasks cover the program, so that two versions never share a result.
///
/// A file that was cut off (a machine lost its power) counts as missing. One that was altered is
/// an Error that names it. Thread-safe but for claim().
class TaskStore {
 public:
  struct Options {
    std::string program;        ///< digest of the program's code
    double lease_seconds = 30;  ///< that a worker may be silent
  };
  enum class Missing : uint8_t { Make, Refuse };
  /// An Error: no store, or one of another program.
  static Result<std::unique_ptr<TaskStore>> open(const std::string& folder, const Options& options,
                                                 Missing missing);

  std::string name_of(const Task& task) const;
  /// Nothing: nobody has made it yet.
  Result<std::optional<std::string>> result(const std::string& name) const;
  bool has_result(const std::string& name) const;
  Status put_result(const std::string& name, std::string_view result) const;

  /// Content by its digest, which it returns.
  Result<std::string> put_object(std::string_view bytes) const;
  Result<std::string> object(const std::string& name) const;

  /// Tasks that one worker is to do in turn; returns the bundle's name.
  Result<std::string> offer(std::span<const Task> tasks) const;
  Result<std::set<std::string>> offered() const;

  struct Claim {
    std::string bundle;
    std::vector<Task> tasks;
    std::unique_ptr<Lease> lease;
  };
  /// A bundle that nobody is at. Nothing: there is none now.
  Result<std::optional<Claim>> claim();
  /// All its results are there.
  Status finish(const Claim& claim) const;

  /// Held by who waits for results: workers stay while one is.
  Result<std::unique_ptr<Lease>> begin_run() const;
  /// Some run is on. Forgets those that ended without a word.
  bool is_running();

  const Storage& storage() const { return storage_; }

 private:
  TaskStore(Storage storage, Options options)
      : storage_(std::move(storage)), options_(std::move(options)) {}
  Result<std::optional<Claim>> claim(const std::string& bundle);
  Result<std::vector<Task>> tasks_of(const std::string& bundle, std::string_view bytes) const;

  Storage storage_;
  Options options_;
  LeaseWatch watch_;
  std::vector<std::string> queue_;  ///< bundles that were open when last looked
};

/// Digest of the file that this code lies in, program or library. An Error: it cannot be read.
Result<std::string> digest_of_program();

}  // namespace regraft::fleet

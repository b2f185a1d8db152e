#pragma once
// A fleet as the command line asks for it.
#include <memory>

#include "cli/fleet/performer.h"
#include "cli/support/commands.h"
#include "fleet/fleet.h"

namespace regraft::cli {

/// The store of a command, its workers, and what this process does itself.
class FleetRun {
 public:
  /// Nothing where no store is asked for. An Error: a store that cannot be used.
  static Result<std::unique_ptr<FleetRun>> begin(const FleetFlags& flags, const Common& common);
  fleet::Fleet& fleet() { return *fleet_; }
  /// For stages that know nothing of fleets. This and `stop` outlive it.
  Helpers helpers(const std::string& label, size_t weight, const Stop& stop);
  /// One line: tasks, of these known, workers lost, bytes.
  std::string summary() const;

 private:
  FleetRun() = default;
  std::unique_ptr<fleet::TaskStore> store_;
  std::unique_ptr<Performer> performer_;
  std::unique_ptr<fleet::Fleet> fleet_;
};

/// The store in a folder, for the program that this is.
Result<std::unique_ptr<fleet::TaskStore>> open_store(const std::string& folder,
                                                     double lease_seconds,
                                                     fleet::TaskStore::Missing missing);

}  // namespace regraft::cli

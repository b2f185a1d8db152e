#include "cli/fleet/fleet_run.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/host.h"
#include "cli/support/report.h"

namespace regraft::cli {
namespace {

/// How this machine starts a worker.
Result<std::vector<std::string>> worker_command(const FleetFlags& flags, const Common& common) {
  if (hosted())
    return error("--workers: not inside another program; start `regraft work " + flags.store +
                 "` beside it");
  std::error_code failed;
  auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return error("--workers: the program's own file is not known");
  std::vector<std::string> command = {program.string(), "work",
                                      flags.store,      "--quiet",
                                      "--lease",        fmt::format("{}", flags.lease_seconds)};
  if (common.memory_gb > 0)
    command.insert(command.end(), {"--memory", fmt::format("{}", common.memory_gb)});
  return command;
}

}  // namespace

Result<std::unique_ptr<fleet::TaskStore>> open_store(const std::string& folder,
                                                     double lease_seconds,
                                                     fleet::TaskStore::Missing missing) {
  ASSIGN_OR_RETURN(std::string program, fleet::digest_of_program());
  return fleet::TaskStore::open(folder, {std::move(program), lease_seconds}, missing);
}

Objects objects_of(const fleet::TaskStore& store) {
  return {[&store](const std::string& bytes) { return store.put_object(bytes); },
          [&store](const std::string& name) { return store.object(name); }};
}

Result<std::unique_ptr<FleetRun>> FleetRun::begin(const FleetFlags& flags, const Common& common) {
  if (flags.store.empty()) return std::unique_ptr<FleetRun>();
  std::unique_ptr<FleetRun> run(new FleetRun);
  ASSIGN_OR_RETURN(run->store_,
                   open_store(flags.store, flags.lease_seconds, fleet::TaskStore::Missing::Make));
  run->performer_ = std::make_unique<Performer>(*run->store_);
  fleet::FleetOptions options;
  options.workers = flags.workers;
  options.verbosity = common.verbosity;
  options.perform = [p = run->performer_.get()](const Task& t, const Stop& stop) {
    return p->perform(t, stop);
  };
  if (flags.workers > 0) {
    ASSIGN_OR_RETURN(options.command, worker_command(flags, common));
  }
  ASSIGN_OR_RETURN(run->fleet_, fleet::Fleet::begin(*run->store_, std::move(options)));
  return run;
}

Helpers FleetRun::helpers(const std::string& label, size_t weight, const Stop& stop) {
  return {[this, label, weight, &stop](const std::vector<Task>& tasks) {
            return fleet_->run(label, tasks, weight, stop);
          },
          objects_of(*store_), [this] { return fleet_->width(); }};
}

std::string FleetRun::summary() const {
  const fleet::FleetCounts& c = fleet_->counts();
  return fmt::format(
      "fleet: {} tasks, {} of them done before, {} bundles, {} of results, {} workers "
      "replaced\n",
      c.tasks, c.known, c.bundles, human_bytes(static_cast<double>(c.bytes)), c.lost);
}

}  // namespace regraft::cli

// Does tasks of a store until there is nothing left to wait for.
#include <fmt/format.h>

#include "base/host.h"
#include "cli/fleet/fleet_run.h"
#include "cli/support/commands.h"
#include "fleet/worker.h"

namespace regraft::cli {

int run_work(const WorkFlags& flags) {
  auto store = open_store(flags.store, flags.lease_seconds, fleet::TaskStore::Missing::Refuse);
  if (!store) return bad_input(store.error());
  Stop stop(flags.common.seconds, memory_limit(flags.common));
  Performer performer(**store);
  auto perform = [&](const Task& t, const Stop& s) { return performer.perform(t, s); };
  auto counts = fleet::work(**store, perform, flags.patience, stop);
  if (!counts) return bad_input(counts.error());
  Stop::acknowledge_interrupt();
  if (flags.common.verbosity == Verbosity::Normal)
    fmt::print(results(), "{} tasks in {} bundles, {} of them done before; {:.1f} s at work\n",
               counts->tasks + counts->known, counts->bundles, counts->known, counts->seconds);
  return Stop::was_interrupted() ? kInterrupted : kDone;
}

}  // namespace regraft::cli

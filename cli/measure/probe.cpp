#include "cli/measure/probe.h"

#include "cli/measure/kernels.h"
#include "cli/measure/measure.h"
#include "cli/support/profiles.h"
#include "cost/profile/scale.h"
#include "cost/runtime/cpu/timing.h"

namespace regraft::cli {
namespace {

constexpr double kSecondsOfProbe = 1.5;  // of timing; building the kernels comes on top

}  // namespace

Status take_probe(const cost::Runtime* target, const Stop& stop, Verbosity verbosity) {
  auto needed = profile_to_probe(target);
  if (!needed || !*needed) return {};  // what cannot be read is told by choose_cost
  const cost::Profile& reference = **needed;
  const bool here = cost::find_runtime(reference.key.runtime)->evaluates;
  if (here && cost::cpu::library_version().empty()) return {};  // prices stay a roofline's
  ASSIGN_OR_RETURN(Measurer measurer, start_measurer(reference.key.runtime, 1, stop));
  cost::Profile probe;
  probe.key = measurer.key;
  probe.probe = true;
  ASSIGN_OR_RETURN(size_t added, complete(probe, cost::scaling_kernels(reference), measurer,
                                          {kSecondsOfProbe, stop, verbosity}));
  if (added == 0 || stop.must_end()) return {};
  RETURN_IF_ERROR(make_folder(user_folder()));
  return cost::write_profiles(user_folder() + "/probe.profile", {probe});
}

}  // namespace regraft::cli

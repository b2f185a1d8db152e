// Measures this machine: probes of every kind of kernel in a runtime, or plain loops.
#include "cost/calibrate.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/kernels.h"
#include "cli/measure.h"
#include "cli/profiles.h"
#include "cost/profiled.h"
#include "io/model.h"

namespace regraft::cli {
namespace {

using cost::Profile;

/// Without a library: the general figures alone.
Profile of_plain_loops() {
  Profile p;
  p.key = {"single", "", cost::processor_name(), "", 1};
  p.machine = cost::probe_machine();
  p.calibrated = true;
  return p;
}

Result<std::map<std::string, cost::Kernel>> wanted_kernels(const CostFlags& flags,
                                                           const cost::Runtime& runtime) {
  auto wanted = cost::probe_kernels(runtime);
  for (const auto& file : flags.files) {
    ASSIGN_OR_RETURN(auto model, io::load(file));
    auto plan = cost::plan_kernels(model.graph, runtime, cost::Machine().symbol_value);
    for (auto& [signature, kernel] : cost::missing_kernels(plan, Profile()))
      wanted.emplace(signature, std::move(kernel));
  }
  return wanted;
}

Result<Profile> of_runtime(const CostFlags& flags, std::vector<Profile>& known) {
  int threads = flags.common.threads > 0 ? flags.common.threads : 1;
  ASSIGN_OR_RETURN(Measurer measurer, start_measurer(flags.runtime, threads));
  Profile p;
  p.key = measurer.key;
  for (const Profile& k : known)
    if (k.key == p.key) p = k;
  cost::Runtime runtime = *cost::find_runtime(flags.runtime);
  runtime.block = measurer.block;
  ASSIGN_OR_RETURN(auto wanted, wanted_kernels(flags, runtime));
  double seconds = flags.common.seconds > 0 ? flags.common.seconds : kCalibrationSeconds;
  ASSIGN_OR_RETURN(size_t added, complete(p, wanted, measurer, seconds));
  if (flags.common.verbosity == Verbosity::Normal)
    fmt::print("{} kernels measured, {} were known\n", added, wanted.size() - added);
  return p;
}

}  // namespace

int run_calibrate(const CostFlags& flags) {
  std::string file = flags.out.empty() ? user_profile() : flags.out;
  auto known = read_if_there(file);
  if (!known) return bad_input(known.error());
  auto made =
      flags.runtime == "single" ? Result<Profile>(of_plain_loops()) : of_runtime(flags, *known);
  if (!made) return bad_input(made.error());
  replace(*known, *made);
  auto folder = std::filesystem::path(file).parent_path().string();
  if (!folder.empty())
    if (auto s = make_folder(folder); !s) return bad_input(s.error());
  if (auto s = cost::write_profiles(file, *known); !s) return bad_input(s.error());
  if (flags.common.verbosity == Verbosity::Quiet) return kDone;
  fmt::print("wrote {}\n", file);
  if (!made->kernels.empty())
    fmt::print("{}: the roofline is off by a factor of {:.2f} in the median\n",
               to_string(made->key), cost::median_error(made->machine, *made));
  return kDone;
}

}  // namespace regraft::cli

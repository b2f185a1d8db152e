// Measures this machine: probes of every kind of kernel in a runtime, or plain loops.
#include "cost/profile/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files/output_file.h"
#include "base/host.h"
#include "base/printable.h"
#include "cli/measure/kernels.h"
#include "cli/measure/measure.h"
#include "cli/support/commands.h"
#include "cli/support/model_files.h"
#include "cli/support/profiles.h"
#include "cli/support/report.h"
#include "cost/profile/profiled.h"
#include "io/model.h"

namespace regraft::cli {
namespace {

using cost::Profile;

constexpr double kSpreadSeconds = 10;  // of timing a sample again, where nothing else is timed

/// Writes what is known so far.
using Keep = std::function<Status(const Profile&)>;

/// Without a library: the general figures alone.
Profile of_plain_loops() {
  Profile p;
  p.key = {std::string(cost::kPlainLoops), "", cost::processor_name(), "", 1};
  p.machine = cost::probe_machine();
  p.calibrated = true;
  const cost::Machine again = cost::probe_machine();
  p.spread = std::max(std::abs(again.peak_gflops / p.machine.peak_gflops - 1),
                      std::abs(again.bandwidth_gbytes / p.machine.bandwidth_gbytes - 1));
  p.measured = std::time(nullptr);
  return p;
}

Result<std::map<std::string, cost::Kernel>> wanted_kernels(const CostFlags& flags,
                                                           const cost::Runtime& runtime) {
  auto wanted = cost::probe_kernels(runtime);
  for (const auto& file : flags.files) {
    ASSIGN_OR_RETURN(auto model, io::load(file));
    auto plan = cost::plan_kernels(model.graph, runtime);
    for (auto& [signature, kernel] : cost::missing_kernels(plan, Profile()))
      wanted.emplace(signature, std::move(kernel));
  }
  return wanted;
}

Result<Profile> of_runtime(const CostFlags& flags, const std::vector<Profile>& known,
                           const Keep& keep) {
  int threads = flags.common.threads > 0 ? flags.common.threads : 1;
  Stop stop;
  ASSIGN_OR_RETURN(Measurer measurer, start_measurer(flags.runtime, threads, stop));
  Profile p;
  p.key = measurer.key;
  for (const Profile& k : known)
    if (k.key == p.key) p = k;
  cost::Runtime runtime = *cost::find_runtime(flags.runtime);
  runtime.block = measurer.block;
  ASSIGN_OR_RETURN(auto wanted, wanted_kernels(flags, runtime));
  double seconds = flags.common.seconds > 0 ? flags.common.seconds : kCalibrationSeconds;
  size_t before = p.kernels.size();
  ASSIGN_OR_RETURN(size_t added,
                   complete(p, wanted, measurer,
                            {seconds, stop, flags.common.verbosity, [&] { return keep(p); }}));
  if (added == 0 && !is_quiet(p)) RETURN_IF_ERROR(check_spread(p, measurer, kSpreadSeconds, stop));
  if (stop.must_end())
    tell(fmt::format("interrupted after {} of {} kernels; the same command goes on from there",
                     p.kernels.size() - before, wanted.size()));
  else if (flags.common.verbosity == Verbosity::Normal)
    fmt::print(results(), "{} kernels measured, {} were known\n", added, wanted.size() - added);
  return p;
}

}  // namespace

namespace {

Status write_report(OutputFile& out, const Profile& p) {
  nlohmann::json report = {{"profile", to_string(p.key)}, {"kernels", p.kernels.size()}};
  report["spread"] = p.spread ? nlohmann::json(*p.spread) : nlohmann::json();
  if (!p.kernels.empty()) report["median_error"] = cost::median_error(p.machine, p);
  return out.write(to_text(report, 2));
}

}  // namespace

int run_calibrate(const CostFlags& flags) {
  std::string file = flags.out.empty() ? user_profile() : flags.out;
  auto folder = std::filesystem::path(file).parent_path().string();
  if (!folder.empty())
    if (auto s = make_folder(folder); !s) return bad_input(s.error());
  auto distinct = require_distinct(with_data("a model", flags.files),
                                   {{"the profile", file}, {"the report", flags.common.json}});
  if (!distinct) return bad_input(distinct.error());
  auto known = read_if_there(file);
  if (!known) return bad_input(known.error());
  if (flags.runtime == cost::kPlainLoops)
    for (const auto& model : flags.files)  // plain loops have no kernels, but a wrong name is one
      if (auto read = io::load(model); !read) return bad_input(read.error());
  auto profiles = OutputFile::open(file);
  if (!profiles) return bad_input(profiles.error());
  auto report = OutputFile::open(flags.common.json);
  if (!report) return bad_input(report.error());
  Keep keep = [&](const Profile& p) -> Status {
    auto all = *known;
    replace(all, p);
    return profiles->in_place() ? Status() : cost::write_profiles(file, all);
  };
  auto made = flags.runtime == cost::kPlainLoops ? Result<Profile>(of_plain_loops())
                                                 : of_runtime(flags, *known, keep);
  if (!made && Stop::was_interrupted()) {
    tell("interrupted before a kernel was measured");
    return kInterrupted;
  }
  if (!made) return bad_input(made.error());
  replace(*known, *made);
  Status written = cost::write_profiles(*profiles, *known);
  if (written) written = write_report(*report, *made);
  if (written) written = commit_all({&*profiles, &*report});
  if (!written) return bad_input(written.error());
  if (flags.common.verbosity == Verbosity::Quiet) return kDone;
  fmt::print(results(), "wrote {}\n", printable(file));
  if (!made->kernels.empty())
    fmt::print(results(), "{}: the roofline is off by a factor of {:.2f} in the median\n",
               to_string(made->key), cost::median_error(made->machine, *made));
  fmt::print(results(), "two timings of the same are {} apart\n", spread_text(made->spread));
  if (file == user_profile() && !is_quiet(*made))
    fmt::print(
        results(),
        "the machine was not quiet: `optimize` will not use this profile by itself; another time, "
        "`regraft cost forget` it and calibrate again\n");
  return kDone;
}

}  // namespace regraft::cli

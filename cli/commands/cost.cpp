// Profiles: what they hold, what they say of a model, what they lack.
#include "cost/model/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/host.h"
#include "base/printable.h"
#include "cli/measure/kernels.h"
#include "cli/support/commands.h"
#include "cli/support/json_file.h"
#include "cli/support/model_files.h"
#include "cli/support/profiles.h"
#include "cli/support/report.h"
#include "cost/profile/calibrate.h"
#include "io/model.h"

namespace regraft::cli {
namespace {

using cost::Kernel;
using cost::Profile;
using nlohmann::json;

void print_rates(const Profile& p) {
  Table table{{{"kind", "GFLOP/s", "GB/s"}}};
  for (size_t k = 0; k < p.machine.rates.size(); ++k)
    table.rows.push_back({std::string(to_string(static_cast<cost::Kind>(k))),
                          fmt::format("{:.1f}", p.machine.rates[k].gflops),
                          fmt::format("{:.1f}", p.machine.rates[k].gbytes)});
  fmt::print(results(), "{}", to_string(table));
}

void print_kernels(const Profile& p) {
  fmt::print(results(), "{:>12} {:>8} {:>6}  kernel\n", "us", "noise", "runs");
  for (const auto& [signature, t] : p.kernels)
    fmt::print(results(), "{:12.2f} {:6.1f} % {:6}  {}\n", t.microseconds, 100 * t.noise, t.runs,
               signature);
}

void print_plan(const cost::Profiled& model, const cost::KernelPlan& plan) {
  fmt::print(results(), "{:>12}             kernel\n", "us");
  const Profile& p = model.profile();
  for (const auto& call : plan.calls) {
    auto at = p.kernels.find(call.signature);
    bool known = at != p.kernels.end();
    double us =
        known ? at->second.microseconds : cost::estimate(p.machine, call.kernel).microseconds;
    fmt::print(results(), "{:12.2f} {:>9}   {}\n", us, known ? "" : "estimated", call.signature);
  }
}

/// What a measurement wrote (python -m regraft.profile).
Result<Profile> profile_of(const json& j) {
  Profile p;
  p.key = {j.at("runtime"), j.at("version"), j.at("device"), j.value("driver", ""),
           whole_number<int>(j.at("threads"))};
  if (!cost::find_runtime(p.key.runtime)) return error("unknown runtime '" + p.key.runtime + "'");
  p.block = whole_number<int64_t>(j.value("block", json(0)));
  p.overhead = j.value("overhead", 0.0);
  if (j.contains("spread") && !j["spread"].is_null()) p.spread = j["spread"].get<double>();
  p.measured = whole_number<int64_t>(j.value("measured", json(0)));
  for (const auto& k : j.at("kernels")) {
    if (k.contains("error")) continue;
    cost::Timing t{k.at("microseconds"), k.value("noise", 0.0),
                   whole_number<int>(k.value("runs", json(1)))};
    std::string text = k.at("signature");
    if (auto parsed = cost::parse_signature(text); !parsed) return parsed.error();
    if (t.microseconds >= 0) p.kernels[text] = t;
  }
  return p;
}

}  // namespace

int run_cost_show(const CostFlags& flags) {
  for (const auto& file : flags.files) {
    auto profiles = cost::read_profiles(file);
    if (!profiles) return bad_input(profiles.error());
    for (const Profile& p : *profiles) {
      fmt::print(results(), "{}: {} kernels of {}, spread {}, {:.2f} us beside each",
                 to_string(p.key), p.kernels.size(), date_text(p), spread_text(p.spread),
                 p.overhead);
      if (p.calibrated)
        fmt::print(results(), ", roofline with {:.2f} us a call\n", p.machine.launch_microseconds);
      else
        fmt::print(results(), ", roofline not calibrated\n");
      if (p.calibrated) {
        fmt::print(results(), "otherwise {:.1f} GFLOP/s and {:.1f} GB/s; by kind:\n",
                   p.machine.peak_gflops, p.machine.bandwidth_gbytes);
        print_rates(p);
      }
      if (flags.kernels) print_kernels(p);
    }
  }
  return kDone;
}

int run_cost_merge(const CostFlags& flags) {
  auto distinct =
      require_distinct(named("a profile file", flags.files), {{"the joined file", flags.out}});
  if (!distinct) return bad_input(distinct.error());
  std::vector<Profile> all;
  for (const auto& file : flags.files) {
    auto profiles = cost::read_profiles(file);
    if (!profiles) return bad_input(profiles.error());
    merge(all, *profiles);
  }
  for (Profile& p : all)  // rates are those of all timings
    if (p.calibrated) cost::calibrate(p);
  if (auto s = cost::write_profiles(flags.out, all); !s) return bad_input(s.error());
  return kDone;
}

int run_cost_add(const CostFlags& flags) {
  auto all = read_if_there(flags.out);
  if (!all) return bad_input(all.error());
  for (const auto& file : flags.files) {
    auto read = [&](const json& j) -> Result<Profile> {
      auto p = profile_of(j);
      if (!p) return error(file + ": " + p.error().message);
      return p;
    };
    auto p = read_json_file(file, "what a measurement wrote", read);
    if (!p) return bad_input(p.error());
    merge(*all, {*p});
  }
  for (Profile& p : *all) cost::calibrate(p);
  auto folder = std::filesystem::path(flags.out).parent_path();
  if (!folder.empty())
    if (auto s = make_folder(folder.string()); !s) return bad_input(s.error());
  if (auto s = cost::write_profiles(flags.out, *all); !s) return bad_input(s.error());
  return kDone;
}

int run_cost_kernels(const CostFlags& flags) {
  auto known = flags.profile.empty() ? Result<std::vector<Profile>>(std::vector<Profile>())
                                     : cost::read_profiles(flags.profile);
  if (!known) return bad_input(known.error());
  cost::Runtime runtime = *cost::find_runtime(flags.runtime);
  if (flags.block >= 0) runtime.block = flags.block;
  std::map<std::string, Kernel> wanted;
  std::vector<NamedFile> inputs = {{"the profile", flags.profile}};
  for (const auto& file : flags.files) {
    auto model = io::load(file);
    if (!model) return bad_input(model.error());
    for (auto& part : with_data("a model", file, *model)) inputs.push_back(part);
    auto plan = cost::plan_kernels(model->graph, runtime);
    for (auto& call : plan.calls)
      wanted.emplace(call.signature, cost::normalised(std::move(call.kernel)));
  }
  for (const Profile& p : *known)
    if (p.key.runtime == flags.runtime)
      for (const auto& [signature, timing] : p.kernels) wanted.erase(signature);
  if (auto s = require_distinct_in(flags.dir, inputs, {"kernel"}); !s) return bad_input(s.error());
  if (auto s = make_folder(flags.dir); !s) return bad_input(s.error());
  auto list = write_kernels(wanted, flags.dir);
  if (!list) return bad_input(list.error());
  if (auto s = write_file(flags.dir + "/kernels.json", to_text(*list, 1)); !s)
    return bad_input(s.error());
  if (flags.common.verbosity == Verbosity::Normal)
    fmt::print(results(), "{} kernels in {}\n", wanted.size(), flags.dir);
  return kDone;
}

int run_cost_predict(const CostFlags& flags) {
  auto chosen = choose_cost(flags.cost);
  if (!chosen) return bad_input(chosen.error());
  if (!chosen->profiled) return bad_input(error(flags.cost + ": no profile fits this machine"));
  fmt::print(results(), "profile: {}\n", printable(to_string(used_profile(*chosen))));
  for (const auto& line : chosen->passed_over) tell(line);
  for (const auto& file : flags.files) {
    auto model = io::load(file);
    if (!model) return bad_input(model.error());
    auto plan = chosen->profiled->plan(model->graph);
    auto p = chosen->profiled->predict(model->graph, plan);
    if (flags.kernels) print_plan(*chosen->profiled, plan);
    fmt::print(results(),
               "{}: {:.1f} us predicted, {} kernels, of which {} ({:.1f} us) are estimated\n", file,
               p.microseconds, p.kernels, p.estimated, p.estimated_microseconds);
  }
  return kDone;
}

}  // namespace regraft::cli

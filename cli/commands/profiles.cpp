// Which profiles are at hand, and forgetting those that were measured here.
#include "cli/support/profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/files/output_file.h"
#include "base/host.h"
#include "base/nearest.h"
#include "base/printable.h"
#include "cli/support/commands.h"
#include "cli/support/report.h"

namespace regraft::cli {
namespace {

/// Does a default `optimize` read it?
bool is_in_use(const KnownProfile& known, const UsedProfile& used) {
  const cost::Profile& p = known.profile;
  return why_unused(known).empty() && !p.probe && to_string(p.key) == used.of && !used.scaled;
}

std::string use_of(const KnownProfile& known, const UsedProfile& used) {
  if (is_in_use(known, used)) return "used by default";
  std::string why = why_unused(known);
  if (!why.empty()) return "not used: " + why;
  return known.profile.probe ? "scales profiles of other processors" : "used where it is asked for";
}

nlohmann::json json_of(const KnownProfile& known, const UsedProfile& used) {
  const cost::Profile& p = known.profile;
  return {{"name", known.name},
          {"file", known.file},
          {"device", p.key.device},
          {"runtime", p.key.runtime},
          {"version", p.key.runtime_version},
          {"threads", p.key.threads},
          {"kernels", p.kernels.size()},
          {"measured", date_text(p)},
          {"spread", p.spread ? nlohmann::json(*p.spread) : nlohmann::json()},
          {"shipped", known.origin == Origin::Shipped},
          {"default", is_in_use(known, used)},
          {"why_unused", why_unused(known)}};
}

void print_list(const std::vector<KnownProfile>& known, const ChosenCost& chosen) {
  UsedProfile used = used_profile(chosen);
  for (const KnownProfile& k : known) {
    const cost::Profile& p = k.profile;
    fmt::print(results(), "{}: {}\n", printable(k.name), use_of(k, used));
    fmt::print(results(), "  {}\n  of {}: {} kernels, spread {}\n  in {}\n",
               printable(to_string(p.key)), date_text(p), p.kernels.size(), spread_text(p.spread),
               printable(k.file));
  }
  fmt::print(results(), "`regraft optimize` uses by default: {}\n", printable(to_string(used)));
  if (used.of.empty()) fmt::print(results(), "its costs: {}\n", chosen.model->description());
}

std::vector<std::string> files_of_user() {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(user_folder(), ignored))
    if (entry.path().extension() == ".profile") files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

Status remove_file(const std::string& file) {
  std::error_code failed;
  std::filesystem::remove(file, failed);
  return failed ? Status(error(file + ": " + failed.message())) : Status();
}

/// Whole files, whatever they hold.
Status forget_all() {
  for (const std::string& file : files_of_user()) {
    RETURN_IF_ERROR(remove_file(file));
    fmt::print(results(), "removed {}\n", printable(file));
  }
  return {};
}

Status forget(const std::string& name) {
  ASSIGN_OR_RETURN(auto known, users_profiles());
  std::map<std::string, std::vector<cost::Profile>> left;  // of files that change
  for (const KnownProfile& k : known)
    if (k.name == name) left[k.file];
  std::vector<std::string> names;
  for (const KnownProfile& k : known) names.push_back(k.name);
  if (left.empty())
    return error(name +
                 ": no profile of the user has this name (`regraft cost list`); shipped ones stay" +
                 suggestion(name, names));
  for (const KnownProfile& k : known)
    if (k.name != name && left.contains(k.file)) left[k.file].push_back(k.profile);
  for (const auto& [file, profiles] : left) {
    RETURN_IF_ERROR(profiles.empty() ? remove_file(file) : cost::write_profiles(file, profiles));
    fmt::print(results(), "removed {} from {}\n", printable(name), printable(file));
  }
  return {};
}

}  // namespace

int run_cost_list(const CostFlags& flags) {
  auto known = known_profiles();
  if (!known) return bad_input(known.error());
  auto chosen = choose_cost("auto", cost::find_runtime(OptimizeFlags().target));
  if (!chosen) return bad_input(chosen.error());
  UsedProfile used = used_profile(*chosen);
  nlohmann::json list = nlohmann::json::array();
  for (const KnownProfile& k : *known) list.push_back(json_of(k, used));
  nlohmann::json report = {
      {"profiles", list}, {"default", to_json(used)}, {"cost_model", chosen->model->description()}};
  auto output = OutputFile::open(flags.common.json);
  if (!output) return bad_input(output.error());
  Status written = output->write(to_text(report, 2));
  if (written) written = output->commit();
  if (!written) return bad_input(written.error());
  print_list(*known, *chosen);
  return kDone;
}

int run_cost_forget(const CostFlags& flags) {
  Status done;
  if (flags.all) done = forget_all();
  for (const std::string& name : flags.files)
    if (done) done = forget(name);
  return done ? kDone : bad_input(done.error());
}

}  // namespace regraft::cli

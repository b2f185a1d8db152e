#include "cli/support/profiles.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cli/support/commands.h"

namespace regraft::cli {
namespace {

using cost::Profile;

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string user_folder() {
  std::string cache = from_environment("XDG_CACHE_HOME");
  if (cache.empty()) cache = from_environment("HOME") + "/.cache";
  return cache + "/regraft";
}

/// Of one runtime, on this processor: one thread first, then the one that knows most.
const Profile* best_of(const std::vector<Profile>& all, const cost::Runtime& runtime) {
  const Profile* best = nullptr;
  std::string processor = cost::processor_name();
  auto rank = [](const Profile& p) { return std::pair(p.key.threads != 1, p.kernels.size()); };
  for (const Profile& p : all) {
    bool fits =
        p.key.runtime == runtime.name && (!runtime.on_processor || p.key.device == processor);
    if (!fits || p.kernels.empty()) continue;
    if (!best || rank(p).first < rank(*best).first ||
        (rank(p).first == rank(*best).first && rank(p).second > rank(*best).second))
      best = &p;
  }
  return best;
}

/// Of the first runtime on this processor that has one.
const Profile* best_of(const std::vector<Profile>& all) {
  for (const cost::Runtime& runtime : cost::runtimes()) {
    const Profile* p = runtime.on_processor ? best_of(all, runtime) : nullptr;
    if (p) return p;
  }
  return nullptr;
}

/// What plain loops measured on this processor, or the defaults.
cost::Machine machine_of(const std::vector<Profile>& all) {
  std::string processor = cost::processor_name();
  for (const Profile& p : all)
    if (p.key.runtime == cost::kPlainLoops && p.key.device == processor) return p.machine;
  return {};
}

/// The kernels that a runtime fuses, priced by the roofline of this machine.
Profile unmeasured(const cost::Machine& machine, const cost::Runtime& runtime) {
  Profile p;
  p.key.runtime = runtime.name;
  p.block = runtime.block;
  p.machine = machine;
  return p;
}

ChosenCost of_profile(const Profile& p) {
  auto model = std::make_unique<cost::Profiled>(p);
  const auto* profiled = model.get();
  return {std::move(model), profiled};
}

Result<ChosenCost> of_file(const std::string& path) {
  ASSIGN_OR_RETURN(auto profiles, cost::read_profiles(path));
  if (profiles.empty()) return error(path + ": holds no profile");
  if (const Profile* p = best_of(profiles)) return of_profile(*p);
  return of_profile(profiles[0]);
}

}  // namespace

Result<std::vector<Profile>> all_profiles() {
  std::vector<std::string> files;
  for (const auto& folder : profile_folders()) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
      if (entry.path().extension() == ".profile") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  std::vector<Profile> all;
  for (const auto& file : files) {
    ASSIGN_OR_RETURN(auto profiles, cost::read_profiles(file));
    merge(all, profiles);
  }
  return all;
}

std::vector<std::string> profile_folders() {
  if (const char* set = std::getenv("REGRAFT_PROFILES")) {
    std::vector<std::string> folders;
    std::string rest = set;
    while (!rest.empty()) {
      size_t end = std::min(rest.find(':'), rest.size());
      if (end > 0) folders.push_back(rest.substr(0, end));
      rest.erase(0, end + 1);
    }
    return folders;
  }
  return {user_folder(), shipped_profiles_folder()};
}

std::string user_profile() { return user_folder() + "/user.profile"; }

Result<ChosenCost> choose_cost(const std::string& cost, const cost::Runtime* target) {
  if (cost.ends_with(".profile")) return of_file(cost);
  ASSIGN_OR_RETURN(auto all, all_profiles());
  if (cost == "auto") {
    if (const Profile* p = target ? best_of(all, *target) : best_of(all)) return of_profile(*p);
    return of_profile(unmeasured(machine_of(all), target ? *target : cost::runtimes().front()));
  }
  if (cost == "roofline") return ChosenCost{std::make_unique<cost::Roofline>(machine_of(all))};
  const cost::Runtime* runtime = cost::find_runtime(cost);
  if (const Profile* p = runtime ? best_of(all, *runtime) : nullptr) return of_profile(*p);
  return error("--cost " + cost + ": no profile of this runtime on " + cost::processor_name() +
               "; make one with `regraft calibrate`");
}

Result<std::vector<Profile>> read_if_there(const std::string& path) {
  if (!std::filesystem::exists(path)) return std::vector<Profile>();
  return cost::read_profiles(path);
}

}  // namespace regraft::cli

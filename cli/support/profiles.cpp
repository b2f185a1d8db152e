#include "cli/support/profiles.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/support/commands.h"
#include "cost/profile/scale.h"

namespace regraft::cli {
namespace {

using cost::Profile;

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// A profile's name among those of one folder.
std::string name_of(const Profile& p, const std::string& stem) {
  std::string name = fmt::format("{}/{}", stem, p.key.runtime);
  if (!p.key.runtime_version.empty()) name += "-" + p.key.runtime_version;
  name += fmt::format("/{}", p.key.threads);
  if (p.key.device != cost::processor_name()) name += "@" + p.key.device;
  std::ranges::replace(name, ' ', '-');
  return name;
}

Result<std::vector<KnownProfile>> profiles_of(const std::string& folder, Origin origin) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".profile") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  std::vector<KnownProfile> all;
  for (const auto& file : files) {
    ASSIGN_OR_RETURN(auto profiles, cost::read_profiles(file));
    std::string stem =
        origin == Origin::Shipped ? "shipped" : std::filesystem::path(file).stem().string();
    for (Profile& p : profiles) {
      std::string name = name_of(p, stem);
      all.push_back({std::move(p), origin, std::move(name), file});
    }
  }
  return all;
}

/// What a command may use; those of one key are one. What was not quiet is told of.
std::vector<Profile> usable(const std::vector<KnownProfile>& known, const cost::Runtime* runtime,
                            std::vector<std::string>& passed_over) {
  std::vector<Profile> all;
  for (const KnownProfile& k : known) {
    std::string why = why_unused(k);
    if (why.empty() && !k.profile.probe) merge(all, {k.profile});
    bool asked = runtime == nullptr || k.profile.key.runtime == runtime->name;
    bool noisy = k.origin == Origin::User && !cost::is_quiet(k.profile);
    if (noisy && asked && k.profile.key.device == cost::processor_name())
      passed_over.push_back(
          fmt::format("the profile {} is not used: {} (`regraft cost list`)", k.name, why));
  }
  return all;
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

/// What a profile of another processor is scaled by.
struct Scaling {
  const Profile* profile = nullptr;    ///< of the runtime that is priced
  const Profile* reference = nullptr;  ///< of the project's own kernels, taken there too
  const Profile* probe = nullptr;      ///< of the same kernels, taken here; nullptr: there is none
};

/// The profile of another processor that knows most and can be scaled.
Scaling scaling_of(const std::vector<KnownProfile>& known, const cost::Runtime& runtime) {
  Scaling best;
  const std::string here = cost::processor_name();
  auto is_own = [](const Profile& p) { return cost::find_runtime(p.key.runtime)->evaluates; };
  auto may_be_scaled = [&](const KnownProfile& k) {
    return !k.profile.probe && !k.profile.kernels.empty() && k.profile.key.threads == 1 &&
           k.profile.key.device != here && (k.origin != Origin::User || is_quiet(k.profile));
  };
  for (const KnownProfile& k : known) {
    const Profile& p = k.profile;
    bool fits = p.key.runtime == runtime.name && runtime.on_processor && may_be_scaled(k);
    if (!fits || (best.profile && best.profile->kernels.size() >= p.kernels.size())) continue;
    for (const KnownProfile& r : known)
      if (is_own(r.profile) && may_be_scaled(r) && r.profile.key.device == p.key.device)
        best.profile = &p, best.reference = &r.profile;
  }
  for (const KnownProfile& k : known)
    if (best.profile && k.profile.probe && is_own(k.profile) && why_unused(k).empty())
      best.probe = &k.profile;
  return best;
}

ChosenCost of_profile(const Profile& p) {
  auto model = std::make_unique<cost::Profiled>(p);
  const auto* profiled = model.get();
  return {std::move(model), profiled, {}};
}

Result<ChosenCost> of_file(const std::string& path) {
  ASSIGN_OR_RETURN(auto profiles, cost::read_profiles(path));
  if (profiles.empty()) return error(path + ": holds no profile");
  if (const Profile* p = best_of(profiles)) return of_profile(*p);
  return of_profile(profiles[0]);
}

Result<ChosenCost> of_profiles(const std::string& cost, const std::vector<KnownProfile>& known,
                               const std::vector<Profile>& all, const cost::Runtime* target) {
  const cost::Runtime* named = cost::find_runtime(cost);
  if (cost == "roofline")
    return ChosenCost{std::make_unique<cost::Roofline>(machine_of(all)), nullptr, {}};
  const cost::Runtime* asked = named ? named : target;
  if (const Profile* p = asked ? best_of(all, *asked) : best_of(all)) return of_profile(*p);
  const cost::Runtime& runtime = asked ? *asked : cost::runtimes().front();
  Scaling s = scaling_of(known, runtime);
  if (s.probe) return of_profile(cost::scaled(*s.profile, *s.reference, *s.probe));
  if (!named)
    return of_profile(
        unmeasured(runtime.on_processor ? machine_of(all) : cost::kGraphicsCard, runtime));
  return error("--cost " + cost + ": no profile of this runtime on " + cost::processor_name() +
               "; make one with `regraft calibrate`");
}

}  // namespace

Result<std::vector<KnownProfile>> known_profiles() {
  const bool named = std::getenv("REGRAFT_PROFILES") != nullptr;
  std::vector<KnownProfile> all;
  for (const auto& folder : profile_folders()) {
    Origin origin = named                     ? Origin::Named
                    : folder == user_folder() ? Origin::User
                                              : Origin::Shipped;
    ASSIGN_OR_RETURN(auto found, profiles_of(folder, origin));
    std::ranges::move(found, std::back_inserter(all));
  }
  if (!named) return all;
  auto users = users_profiles();
  if (!users) return all;
  for (KnownProfile& k : *users)
    if (k.profile.probe) all.push_back(std::move(k));
  return all;
}

Result<std::optional<Profile>> profile_to_probe(const cost::Runtime* target) {
  ASSIGN_OR_RETURN(auto known, known_profiles());
  std::vector<std::string> ignored;
  auto all = usable(known, nullptr, ignored);
  target = cost::priced_as(target);
  const cost::Runtime& runtime = target ? *target : cost::runtimes().front();
  if (target ? best_of(all, runtime) : best_of(all)) return std::optional<Profile>();
  Scaling s = scaling_of(known, runtime);
  return s.reference && !s.probe ? std::optional(*s.reference) : std::nullopt;
}

Result<std::vector<KnownProfile>> users_profiles() {
  return profiles_of(user_folder(), Origin::User);
}

std::string why_unused(const KnownProfile& known) {
  const Profile& p = known.profile;
  const cost::Runtime* runtime = cost::find_runtime(p.key.runtime);
  bool here = runtime->name == cost::kPlainLoops || runtime->on_processor;
  if (here && p.key.device != cost::processor_name()) return "of another processor";
  if (known.origin != Origin::User || cost::is_quiet(p)) return {};
  if (!p.spread) return "its spread is not known";
  return fmt::format("its spread is {}, more than {:.0f} %", spread_text(p.spread),
                     100 * (p.probe ? cost::kQuietProbe : cost::kQuietSpread));
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

std::string user_folder() {
  std::string cache = from_environment("XDG_CACHE_HOME");
  if (cache.empty()) cache = from_environment("HOME") + "/.cache";
  return cache + "/regraft";
}

std::string user_profile() { return user_folder() + "/user.profile"; }

Result<ChosenCost> choose_cost(const std::string& cost, const cost::Runtime* target) {
  if (cost.ends_with(".profile")) return of_file(cost);
  target = cost::priced_as(target);
  ASSIGN_OR_RETURN(auto known, known_profiles());
  const cost::Runtime* named = cost::find_runtime(cost);
  std::vector<std::string> passed_over;
  auto all = usable(known, named ? named : target, passed_over);
  ASSIGN_OR_RETURN(ChosenCost chosen, of_profiles(cost, known, all, target));
  chosen.passed_over = std::move(passed_over);
  return chosen;
}

UsedProfile used_profile(const ChosenCost& cost) {
  if (!cost.profiled || cost.profiled->profile().kernels.empty()) return {};
  const Profile& p = cost.profiled->profile();
  return {p.origin, to_string(p.key), p.kernels.size(), date_text(p), p.spread, p.scaled};
}

std::string to_string(const UsedProfile& used) {
  if (used.of.empty()) return "none";
  return fmt::format("{}: {}, {} kernels, of {}, spread {}", used.file, used.of, used.kernels,
                     used.measured, spread_text(used.spread));
}

nlohmann::json to_json(const UsedProfile& used) {
  if (used.of.empty()) return nullptr;
  return {{"file", used.file},
          {"of", used.of},
          {"kernels", used.kernels},
          {"measured", used.measured},
          {"scaled", used.scaled},
          {"spread", used.spread ? nlohmann::json(*used.spread) : nlohmann::json()}};
}

Result<Profile> usable_profile(const cost::ProfileKey& key) {
  ASSIGN_OR_RETURN(auto known, known_profiles());
  std::vector<std::string> ignored;
  for (Profile& p : usable(known, nullptr, ignored))
    if (p.key == key) return std::move(p);
  Profile none;
  none.key = key;
  return none;
}

std::string spread_text(const std::optional<double>& spread) {
  return spread ? fmt::format("{:.1f} %", 100 * *spread) : "not measured";
}

std::string date_text(const Profile& p) {
  return p.measured > 0 ? fmt::format("{:%F}", fmt::gmtime(static_cast<std::time_t>(p.measured)))
                        : "an unknown day";
}

Result<std::vector<Profile>> read_if_there(const std::string& path) {
  std::error_code none;  // what cannot be looked at cannot be written either
  if (!std::filesystem::exists(path, none)) return std::vector<Profile>();
  return cost::read_profiles(path);
}

}  // namespace regraft::cli

#pragma once
// Profiles that are at hand, and which cost model a command uses.
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cost/profile/profiled.h"

namespace regraft::cli {

/// The folders that are searched for *.profile: those of $REGRAFT_PROFILES (separated by ':';
/// empty: none), or the user's (see user_profile) and the shipped one.
std::vector<std::string> profile_folders();
/// The user's: $XDG_CACHE_HOME/regraft, or ~/.cache/regraft.
std::string user_folder();
/// The file that commands write measurements to unless told otherwise: user.profile there.
std::string user_profile();

enum class Origin : uint8_t {
  User,     ///< of the user's cache: used where it was taken on a quiet machine
  Named,    ///< of a folder of $REGRAFT_PROFILES
  Shipped,  ///< with the program
};
/// A profile of one file, whether a command would use it or not.
struct KnownProfile {
  cost::Profile profile;
  Origin origin = Origin::Named;
  std::string name;  ///< "user/onnxruntime-1.31.1/1": file, runtime, version, threads; "@device"
  std::string file;
};
/// All of the folders that are searched, by file, and the probes of the user's folder. An Error
/// names a file that cannot be read.
Result<std::vector<KnownProfile>> known_profiles();
/// Its timings of a few kernels, taken here again, are what a profile of another processor is to be
/// scaled by. None: there is a profile of `target` (nullptr: of the default) and this processor, or
/// such a probe, or nothing to scale.
Result<std::optional<cost::Profile>> profile_to_probe(const cost::Runtime* target);
/// Those of the user's folder, wherever profiles are searched.
Result<std::vector<KnownProfile>> users_profiles();
/// Why no command takes the profile by itself: another processor, or timings that were not quiet.
/// Empty: it may be taken.
std::string why_unused(const KnownProfile& known);

/// A cost model, and the same as a profile when it is one.
struct ChosenCost {
  std::unique_ptr<cost::CostModel> model;
  const cost::Profiled* profiled = nullptr;  ///< nullptr: the plain roofline
  std::vector<std::string> passed_over;      ///< profiles that were not quiet, and how, a line each
};
/// `cost` is "auto" (a profile of `target`, or of what it is priced as, on this processor, else one
/// of another processor scaled by a probe of this one, else the kernels that it fuses priced by a
/// roofline of this processor or of a graphics card; without a target, of the first runtime that
/// has a profile), the name of a runtime (its profile of this processor, or one scaled to it; of
/// any device, if it runs elsewhere), "roofline", or a profile file (its profile of this processor,
/// else its first). An Error when a file cannot be read, or nothing is found for a runtime.
Result<ChosenCost> choose_cost(const std::string& cost, const cost::Runtime* target = nullptr);
/// What prices come from, for reports.
struct UsedProfile {
  std::string file, of;  ///< empty: there is none
  size_t kernels = 0;
  std::string measured;          ///< the day
  std::optional<double> spread;  ///< none: it was not measured
  bool scaled = false;           ///< from another processor
};
UsedProfile used_profile(const ChosenCost& cost);
/// "FILE: onnxruntime 1.31.1 on .., 12 kernels, of 2026-11-23, spread 1.2 %", or "none".
std::string to_string(const UsedProfile& used);
/// null where there is none.
nlohmann::json to_json(const UsedProfile& used);

/// The profile of this key that a command may use, of all files together; an empty one else.
Result<cost::Profile> usable_profile(const cost::ProfileKey& key);
/// All profiles of a file; none when the file does not exist.
Result<std::vector<cost::Profile>> read_if_there(const std::string& path);

/// "1.2 %", or "not measured".
std::string spread_text(const std::optional<double>& spread);
/// "2026-11-23", or "an unknown day".
std::string date_text(const cost::Profile& p);

}  // namespace regraft::cli

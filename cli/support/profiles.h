#pragma once
// Which cost model a command uses.
#include <memory>
#include <string>
#include <vector>

#include "cost/profile/profiled.h"

namespace regraft::cli {

/// The folders that are searched for *.profile: those of $REGRAFT_PROFILES (separated by ':';
/// empty: none), or the user's (see user_profile) and the shipped one.
std::vector<std::string> profile_folders();
/// The file that commands write measurements to unless told otherwise:
/// $XDG_CACHE_HOME/regraft/user.profile, or ~/.cache/regraft/user.profile.
std::string user_profile();

/// A cost model, and the same as a profile when it is one.
struct ChosenCost {
  std::unique_ptr<cost::CostModel> model;
  const cost::Profiled* profiled = nullptr;  ///< nullptr: the plain roofline
};
/// `cost` is "auto" (a profile of `target`, a runtime, on this processor, else the kernels that it
/// fuses priced by a roofline; without a target, of the first runtime that has a profile), the name
/// of a runtime (its profile of this processor; of any device, if it runs elsewhere), "roofline",
/// or a profile file (its profile of this processor, else its first). An Error when a file cannot
/// be read, or nothing is found for a runtime.
Result<ChosenCost> choose_cost(const std::string& cost, const cost::Runtime* target = nullptr);

/// All profiles in the folders that are searched.
Result<std::vector<cost::Profile>> all_profiles();
/// All profiles of a file; none when the file does not exist.
Result<std::vector<cost::Profile>> read_if_there(const std::string& path);

}  // namespace regraft::cli

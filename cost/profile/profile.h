#pragma once
// What was measured on a machine, and the files that keep it. The only file of this room that
// knows protobuf is profile.cpp.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/output_file.h"
#include "base/result.h"
#include "cost/model/roofline.h"
#include "cost/profile/timing.h"

namespace regraft::cost {

/// What timings depend on. Two profiles with equal keys hold timings of the same thing.
struct ProfileKey {
  std::string runtime;          ///< a name that find_runtime knows
  std::string runtime_version;  ///< of its library
  std::string device;           ///< processor or graphics card
  std::string driver;           ///< empty: none
  int threads = 1;
  auto operator<=>(const ProfileKey&) const = default;
};
/// "onnxruntime 1.31.1 on AMD EPYC, 1 thread".
std::string to_string(const ProfileKey& key);

struct Profile {
  ProfileKey key;
  int64_t block = 0;        ///< channels in a block of the blocked layout; 0: none
  Machine machine;          ///< for what was not measured
  double overhead = 0;      ///< microseconds for each kernel in a graph, beside its own time
  bool calibrated = false;  ///< `machine` was fitted to measurements
  std::map<std::string, Timing, std::less<>> kernels;  ///< by signature
  /// How far two timings of one kernel are apart, as a part of them, in the median over a sample
  /// (A/A). None: it was not measured.
  std::optional<double> spread;
  int64_t measured = 0;  ///< seconds since 1970 of the last timing; 0: not known
  bool probe = false;    ///< a few kernels, to scale what another machine's profile has
  bool scaled = false;   ///< another machine's, scaled to this one; not written
  std::string origin;    ///< the file it is of, and what was made of it; not written
};

/// What a spread may be for the machine to count as quiet.
inline constexpr double kQuietSpread = 0.05;
/// The same for a probe: kinds of kernels differ between processors by more.
inline constexpr double kQuietProbe = 0.2;
/// The profile's spread is known, and no more than that.
bool is_quiet(const Profile& p);
/// Sets `spread` from a second timing of kernels that the profile has, and the time of measuring to
/// now. Kernels without runs, or that take no time, do not count; the spread is none without
/// others.
void set_spread(Profile& p, const std::map<std::string, Timing, std::less<>>& again);

/// Of kernels that both have, the one with less noise stays; the larger spread counts,
/// none if one with kernels has none. REQUIRES: equal keys.
void merge(Profile& into, const Profile& from);
void merge(std::vector<Profile>& into, const std::vector<Profile>& from);

/// Puts the profile in place of the one with its key.
void replace(std::vector<Profile>& in, const Profile& profile);

/// An Error names the file, and says if it is of a newer version.
Result<std::vector<Profile>> read_profiles(const std::string& path);
/// The same from memory; `name` stands for the file in messages.
Result<std::vector<Profile>> parse_profiles(std::string_view bytes, const std::string& name);
/// To a file that the caller commits. Sorted by key and signature: equal contents, equal files.
Status write_profiles(OutputFile& out, const std::vector<Profile>& profiles);
/// The same, committed.
Status write_profiles(const std::string& path, const std::vector<Profile>& profiles);

/// The processor of this machine as profiles name it: its name, family, model and vector width.
std::string processor_name();

}  // namespace regraft::cost

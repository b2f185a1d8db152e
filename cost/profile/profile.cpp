#include "cost/profile/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/check.h"
#include "base/files/input_file.h"
#include "cost/model/kernel.h"
#include "cost/profile.pb.h"

namespace regraft::cost {
namespace {

constexpr uint32_t kVersion = 1;
constexpr size_t kMaxBytes = size_t{1} << 30;

wire::Profile to_wire(const Profile& p) {
  wire::Profile w;
  w.set_runtime(p.key.runtime);
  w.set_runtime_version(p.key.runtime_version);
  w.set_device(p.key.device);
  w.set_driver(p.key.driver);
  w.set_threads(p.key.threads);
  w.set_block(p.block);
  w.set_overhead_microseconds(p.overhead);
  if (p.calibrated) {
    w.mutable_machine()->set_launch_microseconds(p.machine.launch_microseconds);
    w.mutable_machine()->set_peak_gflops(p.machine.peak_gflops);
    w.mutable_machine()->set_bandwidth_gbytes(p.machine.bandwidth_gbytes);
    for (size_t k = 0; k < p.machine.rates.size(); ++k) {
      auto& rate = *w.mutable_machine()->add_rates();
      rate.set_kind(std::string(to_string(static_cast<Kind>(k))));
      rate.set_gflops(p.machine.rates[k].gflops);
      rate.set_gbytes(p.machine.rates[k].gbytes);
    }
  }
  if (p.spread) w.set_spread(*p.spread);
  w.set_measured(p.measured);
  w.set_probe(p.probe);
  for (const auto& [signature, timing] : p.kernels) {
    auto& kernel = *w.add_kernels();
    kernel.set_signature(signature);
    kernel.set_microseconds(timing.microseconds);
    kernel.set_noise(timing.noise);
    kernel.set_runs(timing.runs);
  }
  return w;
}

/// Of time or work, as measured.
bool is_amount(double x) { return x >= 0 && x <= 1e15; }
bool is_rate(double x) { return x >= 1e-9 && x <= 1e15; }

Result<Profile> from_wire(const wire::Profile& w) {
  Profile p;
  p.key = {w.runtime(), w.runtime_version(), w.device(), w.driver(), w.threads()};
  p.block = w.block();
  p.overhead = w.overhead_microseconds();
  if (!find_runtime(p.key.runtime))
    return error(fmt::format("unknown runtime '{}'", p.key.runtime));
  if (w.has_spread()) p.spread = w.spread();
  p.measured = w.measured();
  p.probe = w.probe();
  constexpr int64_t kLatest = 253402300799;  // the year 9999
  if (p.key.threads < 0 || p.block < 0 || !is_amount(p.overhead) ||
      !is_amount(p.spread.value_or(0)) || p.measured < 0 || p.measured > kLatest)
    return error("numbers that make no sense");
  p.calibrated = w.has_machine();
  if (p.calibrated) {
    p.machine.launch_microseconds = w.machine().launch_microseconds();
    p.machine.peak_gflops = w.machine().peak_gflops();
    p.machine.bandwidth_gbytes = w.machine().bandwidth_gbytes();
    if (!is_amount(p.machine.launch_microseconds) || !is_rate(p.machine.peak_gflops) ||
        !is_rate(p.machine.bandwidth_gbytes))
      return error("a machine that makes no sense");
  }
  for (const auto& rate : w.machine().rates()) {
    auto kind = kind_named(rate.kind());
    if (!kind) return error(fmt::format("unknown kind of kernel '{}'", rate.kind()));
    if (!is_amount(rate.gflops()) || !is_amount(rate.gbytes()))
      return error("a rate that makes no sense");
    p.machine.rates[static_cast<size_t>(*kind)] = {rate.gflops(), rate.gbytes()};
  }
  for (const auto& k : w.kernels()) {
    if (!is_amount(k.microseconds()) || !is_amount(k.noise()) || k.runs() < 0)
      return error("a kernel without a time");
    p.kernels[k.signature()] = {k.microseconds(), k.noise(), k.runs()};
  }
  return p;
}

}  // namespace

bool is_quiet(const Profile& p) {
  return p.spread && *p.spread <= (p.probe ? kQuietProbe : kQuietSpread);
}

void set_spread(Profile& p, const std::map<std::string, Timing, std::less<>>& again) {
  std::vector<double> apart;
  for (const auto& [signature, second] : again) {
    auto first = p.kernels.find(signature);
    bool timed = first != p.kernels.end() && first->second.runs > 0 && second.runs > 0;
    if (!timed || first->second.microseconds <= 0 || second.microseconds <= 0) continue;
    double ratio = second.microseconds / first->second.microseconds;
    apart.push_back(std::max(ratio, 1 / ratio) - 1);
  }
  p.spread = apart.empty() ? std::nullopt : std::optional(median(std::move(apart)));
  auto now = std::chrono::system_clock::now().time_since_epoch();
  p.measured = std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

std::string to_string(const ProfileKey& key) {
  std::string s = key.runtime;
  if (!key.runtime_version.empty()) s += " " + key.runtime_version;
  s += " on " + key.device;
  if (!key.driver.empty()) s += ", driver " + key.driver;
  return s + fmt::format(", {} thread{}", key.threads, key.threads == 1 ? "" : "s");
}

void merge(Profile& into, const Profile& from) {
  CHECK(into.key == from.key);
  if (from.calibrated && !into.calibrated) {
    into.machine = from.machine;
    into.calibrated = true;
  }
  into.block = std::max(into.block, from.block);
  if (into.kernels.empty())
    into.spread = from.spread;
  else if (!from.kernels.empty())
    into.spread = into.spread && from.spread ? std::optional(std::max(*into.spread, *from.spread))
                                             : std::nullopt;
  into.measured = std::max(into.measured, from.measured);
  into.probe = into.probe || from.probe;
  if (!from.origin.empty() && into.origin != from.origin)
    into.origin += (into.origin.empty() ? "" : " and ") + from.origin;
  if (into.overhead == 0) into.overhead = from.overhead;
  for (const auto& [signature, timing] : from.kernels) {
    auto [it, added] = into.kernels.emplace(signature, timing);
    if (!added && timing.noise < it->second.noise) it->second = timing;
  }
}

void merge(std::vector<Profile>& into, const std::vector<Profile>& from) {
  for (const Profile& p : from) {
    auto at = std::find_if(into.begin(), into.end(), [&](auto& q) { return q.key == p.key; });
    if (at == into.end())
      into.push_back(p);
    else
      merge(*at, p);
  }
}

void replace(std::vector<Profile>& in, const Profile& profile) {
  std::erase_if(in, [&](const Profile& p) { return p.key == profile.key; });
  in.push_back(profile);
}

Result<std::vector<Profile>> read_profiles(const std::string& path) {
  ASSIGN_OR_RETURN(std::string bytes, read_file(path, kMaxBytes));
  ASSIGN_OR_RETURN(auto profiles, parse_profiles(bytes, path));
  for (Profile& p : profiles) p.origin = path;
  return profiles;
}

Result<std::vector<Profile>> parse_profiles(std::string_view bytes, const std::string& name) {
  wire::ProfileFile file;
  bool whole = bytes.size() <= kMaxBytes &&
               file.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  if (!whole || file.version() == 0) return error(name + ": not a profile file");
  if (file.version() > kVersion)
    return error(fmt::format("{}: version {} of profile files is newer than this program's {}",
                             name, file.version(), kVersion));
  std::vector<Profile> profiles;
  for (const auto& w : file.profiles()) {
    auto p = from_wire(w);
    if (!p) return error(name + ": " + p.error().message);
    merge(profiles, {*std::move(p)});
  }
  return profiles;
}

Status write_profiles(OutputFile& out, const std::vector<Profile>& profiles) {
  std::vector<const Profile*> sorted;
  for (const Profile& p : profiles) sorted.push_back(&p);
  std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->key < b->key; });
  wire::ProfileFile file;
  file.set_version(kVersion);
  for (const Profile* p : sorted) *file.add_profiles() = to_wire(*p);
  return out.write(file.SerializeAsString());
}

Status write_profiles(const std::string& path, const std::vector<Profile>& profiles) {
  ASSIGN_OR_RETURN(OutputFile out, OutputFile::open(path));
  RETURN_IF_ERROR(write_profiles(out, profiles));
  return out.commit();
}

std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  std::map<std::string, std::string> fields;
  for (std::string line; std::getline(in, line) && !line.empty();) {
    size_t colon = line.find(':');
    if (colon == line.npos) continue;
    std::string name = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    fields[name] = colon + 2 <= line.size() ? line.substr(colon + 2) : "";
  }
  std::string s = fields.count("model name") ? fields["model name"] : "unknown processor";
  if (fields.count("cpu family"))
    s += fmt::format(" family {} model {}", fields["cpu family"], fields["model"]);
  std::istringstream flags(fields["flags"]);
  std::string_view width;
  for (std::string flag; flags >> flag;) {
    if (flag == "avx512f") width = " avx512";
    if (flag == "avx2" && width.empty()) width = " avx2";
  }
  return s + std::string(width);
}

}  // namespace regraft::cost

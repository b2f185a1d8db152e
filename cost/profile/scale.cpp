#include "cost/profile/scale.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "cost/profile/calibrate.h"

namespace regraft::cost {
namespace {

constexpr double kWanted = 300;   // microseconds of a kernel: well timed, and soon over
constexpr size_t kOfOneKind = 2;  // kernels

/// How many times as long kernels take, by Kind and all together.
struct Scale {
  std::array<double, static_cast<size_t>(Kind::kCount)> factors{};
  double all = 1;
  double of(Kind kind) const { return factors[static_cast<size_t>(kind)]; }
};

/// A library that lacks an implementation is slow for a reason that other runtimes do not share.
constexpr double kMost = 4;  // a Kind's factor, over that of all

Scale scale_of(const Profile& there, const Profile& here) {
  std::array<std::vector<double>, static_cast<size_t>(Kind::kCount)> ratios;
  std::vector<double> all;
  for (const auto& [signature, now] : here.kernels) {
    auto then = there.kernels.find(signature);
    auto kernel = parse_signature(signature);
    if (then == there.kernels.end() || !kernel) continue;
    if (now.microseconds <= 0 || then->second.microseconds <= 0) continue;
    all.push_back(now.microseconds / then->second.microseconds);
    ratios[static_cast<size_t>(kind_of(*kernel))].push_back(all.back());
  }
  Scale scale;
  if (!all.empty()) scale.all = median(std::move(all));
  for (size_t k = 0; k < ratios.size(); ++k) {
    double factor = ratios[k].empty() ? scale.all : median(std::move(ratios[k]));
    scale.factors[k] = std::clamp(factor, scale.all / kMost, scale.all * kMost);
  }
  return scale;
}

Machine scaled(Machine m, const Scale& scale) {
  m.launch_microseconds *= scale.all;
  m.peak_gflops /= scale.all;
  m.bandwidth_gbytes /= scale.all;
  for (size_t k = 0; k < m.rates.size(); ++k) {
    m.rates[k].gflops /= scale.factors[k];
    m.rates[k].gbytes /= scale.factors[k];
  }
  return m;
}

}  // namespace

std::map<std::string, Kernel> scaling_kernels(const Profile& reference) {
  Runtime runtime = *find_runtime(reference.key.runtime);
  runtime.block = reference.block;
  auto known = probe_kernels(runtime);
  struct Found {
    double distance;
    std::string_view signature;
    auto operator<=>(const Found&) const = default;
  };
  std::map<Kind, std::vector<Found>> by_kind;
  for (const auto& [signature, kernel] : known) {
    auto at = reference.kernels.find(signature);
    if (at == reference.kernels.end() || at->second.microseconds <= 0) continue;
    double distance = std::abs(std::log(at->second.microseconds / kWanted));
    by_kind[kind_of(kernel)].push_back({distance, signature});
  }
  std::map<std::string, Kernel> wanted;
  for (auto& [kind, found] : by_kind) {
    std::ranges::sort(found);
    for (size_t k = 0; k < std::min(kOfOneKind, found.size()); ++k) {
      std::string signature(found[k].signature);
      wanted.emplace(signature, known.at(signature));
    }
  }
  return wanted;
}

Profile scaled(const Profile& p, const Profile& there, const Profile& here) {
  CHECK(p.key.device == there.key.device);
  const Scale scale = scale_of(there, here);
  Profile result = p;
  result.key.device = here.key.device;
  if (p.block > 0 && here.block > 0) result.block = here.block;
  result.machine = scaled(p.machine, scale);
  result.overhead *= scale.all;
  result.spread.reset();
  result.measured = here.measured;
  result.scaled = true;
  result.origin = p.origin + " scaled by " + here.origin;
  for (auto& [signature, timing] : result.kernels) {
    auto kernel = parse_signature(signature);
    timing.microseconds *= kernel ? scale.of(kind_of(*kernel)) : scale.all;
  }
  return result;
}

}  // namespace regraft::cost

#include "cli/optimization/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "cli/optimization/kernel_prices.h"
#include "cli/optimization/obstacles.h"

namespace regraft::cli {
namespace {

constexpr size_t kMostMissed = 8;
constexpr double kLeastShare = 0.01;  // of the whole, that is worth a word

void add_name(std::vector<std::string>& names, std::set<int32_t>& seen, const Graph& g, int32_t id,
              const NodeNames& name) {
  bool there = id < g.id_bound() && g.contains(id);
  if (!there || !seen.insert(id).second) return;
  NodeKind kind = g.node(id).kind;
  if (kind == NodeKind::Call || kind == NodeKind::Opaque) names.push_back(name(g, id));
}

std::vector<WonRegion> regions_of(const Explained& done, const NodeNames& name) {
  const Trace& trace = done.trace;
  std::vector<WonRegion> regions(trace.regions);
  std::vector<std::set<int32_t>> gone(trace.regions), made(trace.regions);
  for (const TracedStep& step : trace.steps) {
    WonRegion& r = regions[step.region];
    ++r.rules[step.rule.name];
    r.microseconds += step.before - step.after;
    for (int32_t id : step.removed) add_name(r.gone, gone[step.region], done.model.graph, id, name);
    for (int32_t id : step.added) add_name(r.made, made[step.region], done.choice.graph, id, name);
  }
  std::ranges::stable_sort(
      regions, [](const auto& a, const auto& b) { return a.microseconds > b.microseconds; });
  return regions;
}

/// Kernels that are alike, of nodes that no rule touched.
struct Group {
  PricedKernel first;
  double microseconds = 0;
  size_t alike = 0;
};

std::vector<Group> dearest(const Explained& done, double& whole) {
  const auto& added = done.trace.added;
  auto touched = [&](int32_t id) {
    return static_cast<size_t>(id) < added.size() && added[static_cast<size_t>(id)].has_value();
  };
  std::vector<Group> groups;
  std::unordered_map<std::string, size_t> known;
  for (PricedKernel& kernel : priced_kernels(done.choice.graph, *done.choice.cost)) {
    whole += kernel.microseconds;
    if (std::ranges::any_of(kernel.nodes, touched)) continue;
    auto [at, fresh] = known.emplace(kernel.likeness, groups.size());
    if (fresh) groups.push_back({kernel, 0, 0});
    groups[at->second].microseconds += kernel.microseconds;
    ++groups[at->second].alike;
  }
  std::ranges::stable_sort(
      groups, [](const auto& a, const auto& b) { return a.microseconds > b.microseconds; });
  std::erase_if(groups, [&](const Group& g) { return g.microseconds < kLeastShare * whole; });
  if (groups.size() > kMostMissed) groups.resize(kMostMissed);
  return groups;
}

}  // namespace

std::string to_string(Obstacle o) {
  switch (o) {
    case Obstacle::Opaque:
      return "opaque";
    case Obstacle::Numerics:
      return "numerics";
    case Obstacle::NotTaken:
      return "not taken";
    case Obstacle::NotCheaper:
      return "not cheaper";
    case Obstacle::Condition:
      return "condition fails";
    case Obstacle::Signature:
      return "signature not covered";
    case Obstacle::NoRule:
      return "no rule";
  }
  return "";
}

Result<Explanation> explain(const Explained& done, double seconds) {
  const Stop stop(seconds);
  const NodeNames name(done.model);
  Explanation all;
  all.kept = done.choice.kept;
  if (all.kept) all.because = done.discarded.empty() ? "nothing better was found" : done.discarded;
  all.folded = done.choice.folded.size();
  all.priced_every = done.trace.priced_every;
  all.regions = regions_of(done, name);
  double whole = 0;
  std::vector<Group> groups = dearest(done, whole);
  if (groups.empty()) return all;
  Obstacles obstacles(done, name, stop);
  RETURN_IF_ERROR(obstacles.ready());
  for (const Group& group : groups) {
    Missed missed;
    for (int32_t id : group.first.nodes) missed.nodes.push_back(name(done.choice.graph, id));
    missed.microseconds = group.microseconds;
    missed.share = whole > 0 ? group.microseconds / whole : 0;
    missed.alike = group.alike;
    missed.reasons = obstacles.of(group.first.nodes);
    all.missed.push_back(std::move(missed));
  }
  all.complete = obstacles.complete();
  return all;
}

}  // namespace regraft::cli

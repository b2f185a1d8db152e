#include "gen/minimise/orbits.h"

#include <algorithm>

#include "base/parallel.h"

namespace regraft::gen {
namespace {

constexpr size_t kMostRenamings = 1000;

/// Exchanges of places among `count`, after which all their orders have been seen.
/// Source: B. R. Heap, Permutations by interchanges, 1963.
std::vector<std::pair<int, int>> interchanges(int count) {
  std::vector<std::pair<int, int>> r;
  std::vector<int> counters(static_cast<size_t>(count), 0);
  for (int k = 1; k < count;) {
    int& c = counters[static_cast<size_t>(k)];
    if (c < k) {
      r.emplace_back(k % 2 == 0 ? 0 : c, k);
      ++c;
      k = 1;
    } else {
      c = 0;
      ++k;
    }
  }
  return r;
}

}  // namespace

Orbits::Orbits(const ValueGraph& graph, int threads) : graph_(graph) {
  int variable = 0, kind = 0;
  for (const LeafKind& k : graph.plans().grammar().leaves) {
    for (int b = variable + 1; b < variable + k.count; ++b)
      for (int a = variable; a < b; ++a) pairs_.emplace_back(a, b);
    kind_of_.insert(kind_of_.end(), static_cast<size_t>(k.count), kind++);
    variable += k.count;
  }
  exchanges_.resize(pairs_.size());
  parallel_for(pairs_.size(), threads,
               [&](size_t k) { exchanges_[k] = exchange(pairs_[k].first, pairs_[k].second); });
}

Orbits::Exchange Orbits::exchange(int a, int b) const {
  uint64_t either = uint64_t{1} << a | uint64_t{1} << b;
  Exchange r(graph_.size(), kNoClass);
  for (ClassId c = 0; c < graph_.size(); ++c) {
    if ((graph_.leaves(c) & either) == 0) {
      r[c] = c;
      continue;
    }
    if (graph_.is_leaf(c)) {
      auto leaf = static_cast<int>(c);
      r[c] = static_cast<ClassId>(leaf == a ? b : leaf == b ? a : leaf);
      continue;
    }
    Application first = graph_.first(c);
    Operands operands = graph_.operands(first);
    bool known = true;
    for (size_t k = 0; k < operands.count; ++k) {
      operands.ids[k] = r[operands.ids[k]];
      known = known && operands.ids[k] != kNoClass;
    }
    auto renamed =
        known ? graph_.application(first.instance(), first.output(), operands) : std::nullopt;
    if (renamed) r[c] = graph_.find(*renamed).value_or(kNoClass);
  }
  return r;
}

/// Exchanges after which each renaming of these variables within their kinds was seen: those of a
/// kind once for each order of the kinds before it.
Orbits::Walk Orbits::walk_over(uint64_t leaves) const {
  std::map<int, std::vector<int>> by_kind;
  for (size_t v = 0; v < kind_of_.size(); ++v)
    if (leaves >> v & 1) by_kind[kind_of_[v]].push_back(static_cast<int>(v));
  size_t count = 1;
  Walk walk;
  for (const auto& [kind, variables] : by_kind) {
    for (size_t k = 2; k <= variables.size(); ++k) count *= k;
    if (count > kMostRenamings) return {};
    Walk before = std::move(walk);
    walk = before;
    for (auto [i, j] : interchanges(static_cast<int>(variables.size()))) {
      std::pair pair(variables[static_cast<size_t>(i)], variables[static_cast<size_t>(j)]);
      auto at = std::find(pairs_.begin(), pairs_.end(), pair);
      walk.push_back(static_cast<uint16_t>(at - pairs_.begin()));
      walk.insert(walk.end(), before.begin(), before.end());
    }
  }
  return walk;
}

const Orbits::Walk& Orbits::walk(uint64_t leaves) const {
  std::lock_guard lock(mutex_);
  auto [it, fresh] = walks_.try_emplace(leaves);
  if (fresh) it->second = walk_over(leaves);
  return it->second;
}

Application Orbits::first_renaming(const std::vector<Application>& applications) const {
  Application first = *std::min_element(applications.begin(), applications.end());
  uint64_t leaves = 0;
  for (Application a : applications) leaves |= graph_.leaves(a);
  const Walk& exchanges = walk(leaves);
  if (exchanges.empty()) return first;
  for (Application a : applications) {
    const Operands operands = graph_.operands(a);
    Operands now = operands;
    for (uint16_t e : exchanges) {
      bool known = true;
      for (size_t k = 0; k < now.count; ++k) {
        if (now.ids[k] != kNoClass) now.ids[k] = exchanges_[e][now.ids[k]];
        known = known && now.ids[k] != kNoClass;
      }
      if (!known) continue;
      auto renamed = graph_.application(a.instance(), a.output(), now);
      if (renamed && *renamed < first) first = *renamed;
    }
  }
  return first;
}

}  // namespace regraft::gen

#include "cli/macros/architecture.h"

#include <algorithm>
#include <set>

#include "base/hash.h"

namespace regraft::cli {
namespace {

constexpr double kAlike = 0.5;  // of all kinds of places of two graphs, those that both have

uint64_t name_of(const Node& n) {
  return n.kind == NodeKind::Call ? hash_text(n.op->name) : static_cast<uint64_t>(n.kind);
}

/// The kinds of places.
std::set<uint64_t> places_of(const Graph& g) {
  std::vector<uint64_t> readers(static_cast<size_t>(g.id_bound()));
  auto calls = [&](auto visit) {
    for (int32_t id = 0; id < g.id_bound(); ++id)
      if (g.contains(id) && g.node(id).kind == NodeKind::Call) visit(id, g.node(id));
  };
  calls([&](int32_t, const Node& n) {
    for (Value v : n.inputs)
      readers[static_cast<size_t>(v.node)] |= uint64_t{1} << (name_of(n) % 64);
  });
  std::set<uint64_t> places;
  calls([&](int32_t id, const Node& n) {
    uint64_t h = combine(name_of(n), readers[static_cast<size_t>(id)]), operands = 0;
    for (Value v : n.inputs) operands += mix(name_of(g.node(v.node)));
    places.insert(combine(h, operands));
  });
  return places;
}

bool alike(const std::set<uint64_t>& a, const std::set<uint64_t>& b) {
  const auto both = static_cast<double>(
      std::ranges::count_if(a, [&](uint64_t place) { return b.contains(place); }));
  const double all = static_cast<double>(a.size() + b.size()) - both;
  return both >= kAlike * all;
}

}  // namespace

std::vector<size_t> architectures_of(std::span<const Graph* const> graphs) {
  std::vector<std::set<uint64_t>> places;
  std::vector<size_t> group;
  size_t groups = 0;
  for (const Graph* g : graphs) {
    places.push_back(places_of(*g));
    const size_t own = groups++;
    group.push_back(own);
    for (size_t k = 0; k + 1 < places.size(); ++k)
      if (group[k] != group.back() && alike(places[k], places.back()))
        std::ranges::replace(group, group[k], group.back());
  }
  std::vector<size_t> met;  // numbers in the order in which they appear
  for (size_t& number : group) {
    auto at = std::ranges::find(met, number);
    if (at == met.end()) at = met.insert(met.end(), number);
    number = static_cast<size_t>(at - met.begin());
  }
  return group;
}

}  // namespace regraft::cli

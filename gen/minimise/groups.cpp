// The groups that a Minimiser judges, and their order.
#include <algorithm>
#include <bit>

#include "gen/minimise/minimise.h"
#include "gen/minimise/orbits.h"

namespace regraft::gen {

/// For each class the calls of its lightest term, counted as often as they occur; followers count.
std::vector<uint32_t> Minimiser::class_weights() const {
  std::vector<uint32_t> weights;
  for (ClassId c = 0; c < graph_.size(); ++c)
    weights.push_back(graph_.is_leaf(c) ? 0 : weight_of(graph_.first(c), weights));
  return weights;
}

uint32_t Minimiser::weight_of(Application a, const std::vector<uint32_t>& classes) const {
  uint32_t weight = graph_.plans().then(static_cast<size_t>(a.instance())) ? 2 : 1;
  for (ClassId c : graph_.operands(a)) weight += classes[c];
  return weight;
}

Minimiser::Item Minimiser::item_of(int level, ClassId known, std::vector<Application> applications,
                                   const std::vector<uint32_t>& weights) const {
  auto rank = [&](Application a) {
    return std::tuple(weight_of(a, weights), -std::popcount(graph_.leaves(a)), a);
  };
  std::sort(applications.begin(), applications.end(),
            [&](Application a, Application b) { return rank(a) < rank(b); });
  bool fresh = known == kNoClass;
  Application second = applications[fresh ? 1 : 0];
  uint32_t weight =
      weight_of(second, weights) + (fresh ? weight_of(applications[0], weights) : weights[known]);
  int leaves = std::popcount(graph_.leaves(second));
  return {level, weight, leaves, known, std::move(applications)};
}

/// The groups of the levels that are stored.
std::vector<Minimiser::Item> Minimiser::stored_items(const std::vector<uint32_t>& weights) const {
  std::vector<Item> items;
  for (ClassId c = 0; c < graph_.size(); ++c) {
    std::map<int, std::vector<Application>> by_size;
    if (graph_.level(c) == 0 && !graph_.is_leaf(c) && graph_.nodes(c).size() < 2) continue;
    for (Application a : graph_.nodes(c)) {
      bool free = graph_.level(c) == 0 && !graph_.is_leaf(c) && a == graph_.first(c);
      if (!free) by_size[graph_.operand_union(a) + 1].push_back(a);
    }
    for (auto& [level, applications] : by_size) {
      bool fresh = level == graph_.level(c);
      if (fresh && applications.size() < 2) continue;
      items.push_back(item_of(level, fresh ? kNoClass : c, std::move(applications), weights));
    }
  }
  return items;
}

/// Of groups that are renamings of one another the first.
void Minimiser::collect() {
  struct Place {
    int level;
    uint32_t weight;
    int leaves;
    size_t number, pairs;  // stored groups come first
    Application orbit;     // the same for all renamings
  };
  const std::vector<uint32_t> weights = class_weights();
  const std::vector<Item> stored = stored_items(weights);
  const Orbits orbits(graph_, threads_);
  auto item = [&](size_t k) {
    if (k < stored.size()) return stored[k];
    const Group& g = graph_.groups[k - stored.size()];
    return item_of(graph_.max_size(), g.known, g.applications, weights);
  };
  std::vector<Place> places(stored.size() + graph_.groups.size());
  auto place = [&](size_t k) {
    Item i = item(k);
    size_t pairs = i.applications.size() - (i.known == kNoClass ? 1 : 0);
    places[k] = {i.level, i.weight, -i.leaves, k, pairs, orbits.first_renaming(i.applications)};
  };
  parallel_for(places.size(), threads_, place, 256);
  for (const Place& p : places) counts_.pairs += p.pairs;
  auto order = [](const Place& p) { return std::tuple(p.level, p.weight, p.leaves, p.number); };
  std::sort(places.begin(), places.end(), [&](const Place& a, const Place& b) {
    return a.orbit != b.orbit ? a.orbit < b.orbit : order(a) < order(b);
  });
  auto same = [](const Place& a, const Place& b) { return a.orbit == b.orbit; };
  places.erase(std::unique(places.begin(), places.end(), same), places.end());
  std::sort(places.begin(), places.end(),
            [&](const Place& a, const Place& b) { return order(a) < order(b); });
  items_.reserve(places.size());
  for (const Place& p : places) {
    items_.push_back(item(p.number));
    pairs_ += p.pairs;
  }
  counts_.renamed = counts_.pairs - pairs_;
}

}  // namespace regraft::gen

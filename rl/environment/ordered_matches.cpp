#include "rl/environment/ordered_matches.h"

#include <algorithm>
#include <iterator>

namespace regraft::rl {

using rewrite::Match;

bool OrderedMatches::comes_first(const Entry& a, const Entry& b) const {
  if (a.rule != b.rule) return a.rule < b.rule;
  if (a.cost_change != b.cost_change) return a.cost_change < b.cost_change;
  const Match &x = engine_.match(a.number), &y = engine_.match(b.number);
  return std::tie(x.nodes, x.variables) < std::tie(y.nodes, y.variables);
}

/// Those of the numbers that apply.
void OrderedMatches::add(const std::vector<int32_t>& numbers) {
  auto before = [&](const Entry& a, const Entry& b) { return comes_first(a, b); };
  fresh_.clear();
  for (int32_t number : numbers) {
    const Match& m = engine_.match(number);
    if (m.listed >= 0) fresh_.push_back({m.cost_change, m.growth, m.rule, number});
  }
  std::sort(fresh_.begin(), fresh_.end(), before);
  merged_.clear();
  std::merge(entries_.begin(), entries_.end(), fresh_.begin(), fresh_.end(),
             std::back_inserter(merged_), before);
  std::swap(entries_, merged_);
}

const std::vector<OrderedMatches::Entry>& OrderedMatches::now() {
  uint64_t known = std::exchange(turn_, engine_.turn());
  if (known == turn_) return entries_;
  if (known + 1 == turn_ && engine_.moved()) {
    changed_.clear();
    for (const auto* numbers : {&engine_.fresh_matches(), &engine_.dropped_matches()})
      for (int32_t number : *numbers) changed_.insert(number);
    std::erase_if(entries_, [&](const Entry& e) { return changed_.contains(e.number); });
    add(engine_.fresh_matches());
  } else {
    entries_.clear();
    add(engine_.matches());
  }
  return entries_;
}

}  // namespace regraft::rl

#include "rl/environment/vocabulary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace regraft::rl {

Vocabulary::Vocabulary(int32_t capacity, const std::vector<int32_t>& rules) : capacity_(capacity) {
  for (int32_t rule : rules) add(rule);
}

void Vocabulary::add(int32_t rule) {
  auto at = static_cast<size_t>(std::max(rule, 0));
  if (at >= slots_.size()) slots_.resize(at + 1, unknown());
  if (rule >= 0) slots_[at] = size();
  rules_.push_back(rule);
}

void Vocabulary::learn(const Observation& o) {
  for (int32_t rule : o.rule)
    if (size() < capacity_ && slot(rule) == unknown()) add(rule);
}

int32_t Vocabulary::slot(int32_t rule) const {
  if (rule < 0) return stop();
  auto at = static_cast<size_t>(rule);
  return at < slots_.size() ? slots_[at] : unknown();
}

Offers Vocabulary::offers(const Observation& o, int32_t locations) const {
  Offers offers(capacity_, locations);
  for (int32_t match : in_order(o)) {
    auto at = static_cast<size_t>(match);
    int32_t s = slot(o.rule[at]);
    if (s == unknown()) continue;
    auto& n = offers.counts[static_cast<size_t>(s)];
    if (n < locations) offers.change({s, n}) = described_change(o, at);
    if (n < std::numeric_limits<int16_t>::max()) ++n;
  }
  return offers;
}

std::vector<Choice> choices(const Offers& offers) {
  std::vector<Choice> all;
  const auto& counts = offers.counts;
  for (size_t s = 0; s < counts.size(); ++s)
    for (int32_t k = 0; k < std::min<int32_t>(counts[s], offers.locations); ++k)
      all.push_back({static_cast<int32_t>(s), k});
  all.push_back({static_cast<int32_t>(counts.size()), 0});
  return all;
}

float saving(float described) { return -std::copysign(std::expm1(std::abs(described)), described); }

float described_change(const Observation& o, size_t match) {
  return o.match[match * kMatchFeatures + 1];
}

std::vector<int32_t> in_order(const Observation& o) {
  std::vector<int32_t> order(o.matches());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int32_t k) {
    auto at = static_cast<size_t>(k);
    return std::pair(o.rule[at], described_change(o, at));
  });
  return order;
}

}  // namespace regraft::rl

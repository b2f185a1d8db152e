#include "gen/supports.h"

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"

namespace regraft::gen {
namespace {

std::span<const uint32_t> tokens(const Support& s) {
  return {s.tokens.data(), static_cast<size_t>(s.size)};
}

/// REQUIRES: the union fits.
Support united(const Support& a, const Support& b) {
  Support r = a;
  for (uint32_t t : tokens(b)) r = r.with(t);
  return r;
}

uint64_t subset_key(const Support& s, unsigned subset) {
  uint64_t h = 1;
  for (int k = 0; k < s.size; ++k)
    if (subset >> k & 1) h = combine(h, s.tokens[static_cast<size_t>(k)]);
  return h;
}

template <class F>
void for_each_union(std::span<const std::vector<Support>* const> lists, int limit, F&& f) {
  auto go = [&](auto& self, size_t k, const Support& so_far) -> void {
    if (k == lists.size()) return f(so_far);
    for (const Support& s : *lists[k])
      if (union_size(so_far, s) <= limit) self(self, k + 1, united(so_far, s));
  };
  go(go, 0, Support{});
}

}  // namespace

bool Support::contains(uint32_t token) const {
  return std::binary_search(tokens.begin(), tokens.begin() + size, token);
}
bool Support::contains(const Support& o) const {
  return std::includes(tokens.begin(), tokens.begin() + size, o.tokens.begin(),
                       o.tokens.begin() + o.size);
}
Support Support::with(uint32_t token) const {
  if (contains(token)) return *this;
  CHECK(size < kCapacity);
  Support r = *this;
  int k = r.size++;
  for (; k > 0 && r.tokens[static_cast<size_t>(k - 1)] > token; --k)
    r.tokens[static_cast<size_t>(k)] = r.tokens[static_cast<size_t>(k - 1)];
  r.tokens[static_cast<size_t>(k)] = token;
  return r;
}
Support Support::without(uint32_t token) const {
  Support r;
  for (int k = 0; k < size; ++k)
    if (tokens[static_cast<size_t>(k)] != token)
      r.tokens[static_cast<size_t>(r.size++)] = tokens[static_cast<size_t>(k)];
  return r;
}

int union_size(const Support& a, const Support& b) {
  int n = a.size;
  for (uint32_t t : tokens(b)) n += a.contains(t) ? 0 : 1;
  return n;
}

int smallest_union(const std::vector<Support>& a, const std::vector<Support>& b) {
  int best = 2 * Support::kCapacity;
  for (const Support& x : a)
    for (const Support& y : b) best = std::min(best, union_size(x, y));
  return best;
}

int smallest_union(std::span<const std::vector<Support>* const> lists) {
  int best = 2 * Support::kCapacity;
  for_each_union(lists, Support::kCapacity,
                 [&](const Support& s) { best = std::min(best, s.size); });
  return best;
}

Support best_union(std::span<const std::vector<Support>* const> lists) {
  Support best;
  best.size = -1;
  for_each_union(lists, Support::kCapacity, [&](const Support& s) {
    if (best.size < 0 || s.size < best.size) best = s;
  });
  CHECK(best.size >= 0);
  return best;
}

std::vector<Support> all_unions(std::span<const std::vector<Support>* const> lists, int limit) {
  std::vector<Support> r;
  for_each_union(lists, limit, [&](const Support& s) { add_irredundant(r, s); });
  return r;
}

void add_irredundant(std::vector<Support>& list, const Support& s) {
  for (const Support& known : list)
    if (s.contains(known)) return;
  list.push_back(s);
}

void SupportIndex::add(int32_t value, const std::vector<Support>& supports) {
  for (const Support& s : supports) {
    auto size = static_cast<size_t>(s.size);
    if (by_size_.size() <= size) by_size_.resize(size + 1);
    if (by_size_[size].empty() || by_size_[size].back() != value) by_size_[size].push_back(value);
    for (unsigned subset = 1; subset < 1u << s.size; ++subset)
      by_subset_[subset_key(s, subset)].push_back({value, s.size});
  }
}

std::vector<int32_t> SupportIndex::partners(const std::vector<Support>& supports, int limit) const {
  std::vector<int32_t> r;
  for (const Support& s : supports) {
    for (int m = 0; m <= limit - s.size && m < static_cast<int>(by_size_.size()); ++m) {
      const auto& list = by_size_[static_cast<size_t>(m)];
      r.insert(r.end(), list.begin(), list.end());
    }
    for (unsigned subset = 1; subset < 1u << s.size; ++subset) {
      auto it = by_subset_.find(subset_key(s, subset));
      if (it == by_subset_.end()) continue;
      for (const auto& e : it->second)
        if (s.size + e.size - __builtin_popcount(subset) <= limit) r.push_back(e.value);
    }
  }
  std::sort(r.begin(), r.end());
  r.erase(std::unique(r.begin(), r.end()), r.end());
  return r;
}

}  // namespace regraft::gen

#include "gen/enumerate/supports.h"

#include <algorithm>

#include "base/check.h"

namespace regraft::gen {
namespace {

template <class F>
void for_each_union(std::span<const SupportList> lists, int limit, F&& f) {
  auto go = [&](auto& self, size_t k, const Support& so_far) -> void {
    if (k == lists.size()) return f(so_far);
    for (TokenSpan s : lists[k])
      if (union_size(so_far.span(), s) <= limit) self(self, k + 1, united(so_far.span(), s));
  };
  go(go, 0, Support{});
}

void pack(const std::vector<Support>& supports, std::vector<Token>& out) {
  for (const Support& s : supports) {
    out.push_back(s.size);
    out.insert(out.end(), s.tokens.begin(), s.tokens.begin() + s.size);
  }
}

}  // namespace

Support::Support(TokenSpan from) : size(static_cast<uint32_t>(from.size())) {
  CHECK(from.size() <= kCapacity);
  std::copy(from.begin(), from.end(), tokens.begin());
}
Support Support::with(Token token) const { return united(span(), {&token, 1}); }
Support Support::without(Token token) const {
  Support r;
  for (Token t : span())
    if (t != token) r.tokens[r.size++] = t;
  return r;
}

bool contains(TokenSpan set, Token token) {
  return std::find(set.begin(), set.end(), token) != set.end();
}
bool contains(TokenSpan set, TokenSpan part) {
  return std::includes(set.begin(), set.end(), part.begin(), part.end());
}

int union_size(TokenSpan a, TokenSpan b) {
  size_t i = 0, j = 0, n = 0;
  for (; i < a.size() && j < b.size(); ++n) {
    Token x = a[i], y = b[j];
    i += x <= y;
    j += y <= x;
  }
  return static_cast<int>(n + (a.size() - i) + (b.size() - j));
}

Support united(TokenSpan a, TokenSpan b) {
  Support r;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    CHECK(r.size < Support::kCapacity);
    bool from_a = j == b.size() || (i < a.size() && a[i] <= b[j]);
    Token t = from_a ? a[i] : b[j];
    i += i < a.size() && a[i] == t;
    j += j < b.size() && b[j] == t;
    r.tokens[r.size++] = t;
  }
  return r;
}

int smallest_union(SupportList a, SupportList b) {
  int best = 1 << 20;
  for (TokenSpan x : a)
    for (TokenSpan y : b) best = std::min(best, union_size(x, y));
  return best;
}

int smallest_union(std::span<const SupportList> lists) {
  if (lists.empty()) return 0;
  if (lists.size() == 2) return smallest_union(lists[0], lists[1]);
  int best = 1 << 20;
  for_each_union(lists, static_cast<int>(Support::kCapacity),
                 [&](const Support& u) { best = std::min(best, static_cast<int>(u.size)); });
  return best;
}

Support best_union(std::span<const SupportList> lists) {
  Support best;
  best.size = Support::kCapacity + 1;
  for_each_union(lists, static_cast<int>(Support::kCapacity), [&](const Support& u) {
    if (u.size < best.size) best = u;
  });
  CHECK(best.size <= Support::kCapacity);
  return best;
}

void add_irredundant(std::vector<Support>& list, const Support& s) {
  for (const Support& other : list)
    if (contains(s.span(), other.span())) return;
  std::erase_if(list, [&](const Support& other) { return contains(other.span(), s.span()); });
  list.push_back(s);
}

std::vector<Support> all_unions(std::span<const SupportList> lists, int limit) {
  std::vector<Support> r;
  for_each_union(lists, limit, [&](const Support& u) { add_irredundant(r, u); });
  return r;
}

void SupportTable::push_back(const std::vector<Support>& supports) {
  pack(supports, tokens_);
  begin_.push_back(tokens_.size());
}

void SupportTable::replace(const std::vector<std::pair<uint32_t, std::vector<Support>>>& changed) {
  if (changed.empty()) return;
  SupportTable next;
  auto it = changed.begin();
  for (uint32_t id = 0; id < size(); ++id) {
    if (it != changed.end() && it->first == id) {
      next.push_back((it++)->second);
      continue;
    }
    auto packed = of(id).packed();
    next.tokens_.insert(next.tokens_.end(), packed.begin(), packed.end());
    next.begin_.push_back(next.tokens_.size());
  }
  *this = std::move(next);
}

}  // namespace regraft::gen

#include "gen/pair.h"

#include <algorithm>

namespace regraft::gen {
namespace {

/// Calls that both sides contain and that no larger shared call contains.
std::vector<TermId> shared_calls(const Bank& bank, Pair p) {
  std::set<TermId> l = bank.subterms(p.lhs), r = bank.subterms(p.rhs), inner;
  std::vector<TermId> shared;
  for (TermId t : l)
    if (r.count(t) > 0 && !bank.node(t).is_leaf()) shared.push_back(t);
  for (TermId t : shared)
    for (TermId u : bank.subterms(t))
      if (u != t) inner.insert(u);
  std::erase_if(shared, [&](TermId t) { return inner.count(t) > 0; });
  return shared;
}

/// The pair with `shared` as fresh leaves, where it holds; the pair itself otherwise.
Pair abstracted(Bank& bank, Pair p, const std::vector<TermId>& shared) {
  constexpr int kFirstFresh = 100'000;
  std::map<TermId, TermId> by;
  std::set<TermId> used = bank.leaves(p.lhs);
  used.merge(bank.leaves(p.rhs));
  int number = kFirstFresh;
  for (TermId t : shared) {
    const auto* value = bank.value(t);
    if (!value) return p;
    TermId fresh = bank.leaf(value->shape, number++);
    while (used.count(fresh) > 0) fresh = bank.leaf(value->shape, number++);
    by[t] = fresh;
  }
  Pair q{bank.replace(p.lhs, by), bank.replace(p.rhs, by)};
  return bank.same_value(q.lhs, q.rhs) ? q : p;
}

using Rank = std::tuple<size_t, size_t, size_t, std::vector<int64_t>>;
Rank rank_of(const Bank& bank, Pair p, std::vector<int64_t> key) {
  std::set<TermId> leaves = bank.leaves(p.lhs);
  leaves.merge(bank.leaves(p.rhs));
  size_t l = bank.size(p.lhs), r = bank.size(p.rhs);
  return {l + r, std::max(l, r), 100 - leaves.size(), std::move(key)};
}

}  // namespace

Pair without_common_subterms(Bank& bank, Pair p) {
  for (bool again = true; again;) {
    again = false;
    std::vector<TermId> shared = shared_calls(bank, p);
    if (shared.empty()) break;
    Pair q = abstracted(bank, p, shared);
    for (size_t k = 0; q == p && shared.size() > 1 && k < shared.size(); ++k)
      q = abstracted(bank, p, {shared[k]});
    again = q != p;
    p = q;
  }
  return p;
}

bool follows_by_congruence(Bank& bank, Pair p) {
  const TermNode a = bank.node(p.lhs), b = bank.node(p.rhs);
  if (a.is_leaf() || b.is_leaf() || a.label != b.label || a.output != b.output) return false;
  if (a.operands.size() != b.operands.size()) return false;
  auto equal = [&](size_t i, size_t j) { return bank.same_value(a.operands[i], b.operands[j]); };
  if (bank.label(a.label).op->commutative && equal(0, 1) && equal(1, 0)) return true;
  for (size_t k = 0; k < a.operands.size(); ++k)
    if (!equal(k, k)) return false;
  return true;
}

std::vector<Pair> reduce_pairs(Bank& bank, const std::vector<Pair>& raw, PairCounts& counts) {
  counts.raw += raw.size();
  std::map<std::vector<int64_t>, Pair> distinct;
  std::set<std::vector<int64_t>> seen;
  for (Pair p : raw) {
    if (!seen.insert(renaming_key(bank, p)).second) {
      ++counts.renaming;
      continue;
    }
    p = without_common_subterms(bank, p);
    if (directed_key(bank, p.lhs, p.lhs) == directed_key(bank, p.lhs, p.rhs))
      ++counts.trivial;
    else if (follows_by_congruence(bank, p))
      ++counts.common_subgraph;
    else if (!distinct.try_emplace(renaming_key(bank, p), p).second)
      ++counts.renaming;
  }
  std::vector<std::pair<Rank, Pair>> ranked;
  for (auto& [key, p] : distinct) ranked.emplace_back(rank_of(bank, p, key), p);
  std::sort(ranked.begin(), ranked.end());
  std::vector<Pair> r;
  for (const auto& [rank, p] : ranked) r.push_back(p);
  return r;
}

}  // namespace regraft::gen

#include "gen/minimise/pair.h"

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

}  // namespace regraft::gen

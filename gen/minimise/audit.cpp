#include "gen/minimise/audit.h"

#include <algorithm>
#include <set>

#include "gen/derive/derive.h"

namespace regraft::gen {
namespace {

struct Drawn {
  const Bank* bank = nullptr;
  TermId lhs = -1, rhs = -1;  ///< lhs binds all
};

/// The most general forms of a pair.
std::vector<Rule> forms(const Drawn& d, uint64_t seed) {
  std::vector<Generalised> found = generalise(*d.bank, d.lhs, d.rhs, seed);
  if (found.empty() && d.bank->binds(d.rhs, d.lhs)) found = generalise(*d.bank, d.rhs, d.lhs, seed);
  std::vector<Rule> r;
  for (Generalised& g : found) {
    g.rule.domain = {std::move(g.signature)};
    r.push_back(std::move(g.rule));
  }
  return r;
}

/// The pair as it was found: its numbers, at its sizes.
Rule ground(const Drawn& d) {
  TemplatePair pair;
  pair.lhs = d.lhs;
  pair.rhs = d.rhs;
  std::vector<TermId> leaves = rule_leaves(*d.bank, d.lhs);
  Signature signature;
  for (size_t k = 0; k < leaves.size(); ++k) {
    const auto& shape = d.bank->node(leaves[k]).shape;
    signature.push_back(shape.empty() ? "-" : std::string(shape.size(), 'n'));
    for (size_t axis = 0; axis < shape.size(); ++axis)
      pair.where.emplace_back(Poly::symbol(extent_of(*pair.pool, k, shape.size(), axis)),
                              Poly(shape[axis]));
  }
  Rule r = to_rule(*d.bank, pair);
  r.domain = {std::move(signature)};
  return r;
}

std::vector<Drawn> draw(std::vector<Judged>& grammars, size_t count, uint64_t seed) {
  constexpr size_t kSpare = 4;  // some pairs have no direction
  uint64_t total = 0;
  for (const Judged& t : grammars) total += t.minimiser->pairs();
  Rng rng(seed);
  std::set<uint64_t> numbers;
  for (size_t k = 0; k < kSpare * count && total > 0; ++k) numbers.insert(rng.below(total));
  std::vector<Drawn> r;
  uint64_t first = 0;
  for (Judged& t : grammars) {
    std::vector<uint64_t> own;
    for (auto n = numbers.lower_bound(first);
         n != numbers.end() && *n < first + t.minimiser->pairs(); ++n)
      own.push_back(*n - first);
    for (Pair p : t.minimiser->pairs_at(own)) {
      if (!t.bank->binds(p.lhs, p.rhs)) std::swap(p.lhs, p.rhs);
      if (t.bank->binds(p.lhs, p.rhs)) r.push_back({t.bank.get(), p.lhs, p.rhs});
    }
    first += t.minimiser->pairs();
  }
  for (size_t k = r.size(); k > 1; --k) std::swap(r[k - 1], r[rng.below(k)]);
  if (r.size() > count) r.resize(count);
  return r;
}

}  // namespace

AuditCounts audit(std::vector<Judged>& grammars, const std::vector<Rule>& candidates, size_t count,
                  uint64_t seed, int threads, const Stop& stop) {
  std::vector<Drawn> pairs = draw(grammars, count, seed);
  std::vector<std::vector<Rule>> general(pairs.size());
  parallel_for(pairs.size(), threads, [&](size_t k) {
    if (!stop.must_end()) general[k] = forms(pairs[k], seed);
  });
  std::vector<Rule> goals, found;
  for (size_t k = 0; k < pairs.size(); ++k) {
    goals.insert(goals.end(), general[k].begin(), general[k].end());
    found.push_back(ground(pairs[k]));
  }
  DeriveOptions patient;  // associative and commutative products have many forms
  patient.max_nodes = 20000;
  patient.max_rounds = 8;
  Deriver deriver(candidates, patient);
  std::vector<Derivation> in_general = derive_all(deriver, goals, threads, stop);
  std::vector<Derivation> as_found = derive_all(deriver, found, threads, stop);
  AuditCounts counts;
  if (stop.must_end()) return counts;
  size_t next = 0;
  for (size_t k = 0; k < pairs.size(); ++k) {
    bool derived = true;
    for (size_t j = 0; j < general[k].size(); ++j) derived = in_general[next++].derived && derived;
    ++counts.pairs;
    if (general[k].empty())
      ++counts.coincidences;
    else if (derived)
      ++counts.derived;
    else if (as_found[k].derived)
      ++counts.derived_as_found;
    else
      counts.open.push_back(found[k]);
  }
  return counts;
}

}  // namespace regraft::gen

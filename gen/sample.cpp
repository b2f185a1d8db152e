#include "gen/sample.h"

#include <algorithm>
#include <set>

#include "base/rng.h"
#include "ir/pattern.h"

namespace regraft::gen {
namespace {

constexpr int kAttempts = 600;
constexpr int64_t kMaxExtent = 64;

using SymbolSet = std::set<Var, SymbolLess>;

void collect(const Graph& g, SymbolSet& out) {
  auto add = [&](Var v) { out.insert(v); };
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    const Node& n = g.node(id);
    for (const auto& list : n.attrs.ints)
      for (const Poly& p : list) for_each_symbol(p, add);
    if (n.kind == NodeKind::Input)
      for (const Poly& p : *n.types[0].shape) for_each_symbol(p, add);
  }
}

/// The first symbol that occurs alone in a term and that p == 0 can be solved for.
std::optional<std::pair<Var, Poly>> solution_of(const Poly& p) {
  for (const auto& term : p.terms()) {
    if (term.monomial.size() != 1 || term.monomial[0]->numerator) continue;
    Poly solution;
    if (solve_for(p, term.monomial[0], solution)) return {{term.monomial[0], solution}};
  }
  return std::nullopt;
}

/// Symbols that the equations express by others.
Substitution solved(const Conjunction& equations) {
  Substitution s;
  for (bool again = true; again;) {
    again = false;
    for (const Formula& f : equations) {
      if (f.kind != Formula::Zero) continue;
      auto found = solution_of(is_zero(substitute(f.poly, s)).poly);
      if (!found) continue;
      for (auto& [known, value] : s) value = substitute(value, {{found->first, found->second}});
      s[found->first] = found->second;
      again = true;
    }
  }
  return s;
}

class Drawing {
 public:
  explicit Drawing(const RuleInstance& instance) : instance_(instance) {
    SymbolSet all;
    collect(instance.lhs, all);
    collect(instance.rhs, all);
    solved_ = solved(instance.requires_lhs);
    for (const auto& sizes : instance.sizes)
      for (const auto& v : sizes)
        if (v) extents_.insert(*v);
    for (Var v : all)
      if (solved_.count(v) == 0) free_.push_back(v);
  }

  /// Extents drawn from 2 on, apart from each other; `spread` more than are needed.
  std::optional<Valuation> attempt(Rng& rng, int64_t spread) const {
    Valuation values;
    std::set<int64_t> taken;
    for (Var v : free_) {
      bool extent = extents_.count(v) > 0;
      int64_t low = extent ? (spread < 0 ? 1 : 2) : v->min, n = 0;
      int64_t high = extent ? 2 + static_cast<int64_t>(extents_.size()) + spread : v->min + 2;
      do n = rng.between(low, high);
      while (extent && spread >= 0 && !taken.insert(n).second);
      values[v] = n;
    }
    return completed(std::move(values));
  }

 private:
  std::optional<Valuation> completed(Valuation values) const {
    Valuation all = values;
    for (const auto& [v, expression] : solved_) {
      int64_t x = evaluate(expression, values);
      if (x < v->min || x > kMaxExtent) return std::nullopt;
      all[v] = x;
    }
    if (!evaluate(instance_.requires_lhs, all)) return std::nullopt;
    return all;
  }

  const RuleInstance& instance_;
  Substitution solved_;
  SymbolSet extents_;
  std::vector<Var> free_;
};

}  // namespace

std::optional<Valuation> distinct_sizes(const RuleInstance& instance, uint64_t seed) {
  Drawing drawing(instance);
  Rng rng(seed);
  for (int k = 0; k < kAttempts; ++k) {
    int64_t spread = k < kAttempts * 2 / 3 ? 3 + k % 4 : -1;  // at last with repetitions
    if (auto values = drawing.attempt(rng, spread)) return values;
  }
  return std::nullopt;
}

}  // namespace regraft::gen

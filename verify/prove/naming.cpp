#include "verify/prove/naming.h"

#include <algorithm>

namespace regraft::verify {
namespace {

/// A symbol, what it is by a new one, and what that says.
struct Naming {
  Var replaced = nullptr, name = nullptr;
  Poly by;
  Conjunction facts;
};

/// A symbol of that kind that p can be solved for, a term of it.
Var solvable_symbol(const Poly& p, SymbolKind kind) {
  for (const auto& t : p.terms()) {
    if (t.monomial.size() != 1 || t.coefficient != 1 || t.monomial[0]->kind != kind) continue;
    if (!mentions(p - Poly::symbol(t.monomial[0]), t.monomial[0])) return t.monomial[0];
  }
  return nullptr;
}

/// One symbol, a number, or a product.
bool is_simple(const Poly& p) {
  if (p.is_constant()) return true;
  bool product = p.constant() == 0 && p.terms().size() == 1;
  return product && !any_symbol(p, [](Var v) { return v->kind == SymbolKind::Quotient; });
}

/// Gives sizes names, one after the other.
class Namer {
 public:
  Namer(const RuleInstance& instance, SolvedDomain solved, ArithmeticSolver& solver)
      : instance_(instance), solved_(std::move(solved)), solver_(solver) {}

  std::optional<SolvedDomain> run() {
    constexpr size_t kMost = 8;
    while (names_.size() < kMost) {
      auto naming = first();
      if (!naming) break;
      names_.push_back(naming->name);
      replace(*naming);
    }
    return names_.empty() ? std::nullopt : std::optional(std::move(solved_));
  }

 private:
  /// Of the first size of a tensor of either side that wants a name.
  std::optional<Naming> first() const {
    for (const Graph* g : {&instance_.lhs, &instance_.rhs})
      for (int32_t id = 0; id < g->id_bound(); ++id) {
        if (!g->contains(id)) continue;
        for (const TensorType& type : g->node(id).types) {
          if (!type.shape) continue;
          for (const Poly& size : *type.shape)
            if (auto found = naming_of(placed(size), g->pool())) return found;
        }
      }
    return std::nullopt;
  }
  Poly placed(const Poly& p) const {
    return substitute(substitute(p, solved_.sizes), solved_.sizes);
  }

  /// A size with a symbol that is a name has none: it would undo that one.
  std::optional<Naming> naming_of(const Poly& size, SymbolPool& pool) const {
    bool named = std::ranges::any_of(names_, [&](Var v) { return mentions(size, v); });
    if (named || is_simple(size)) return std::nullopt;
    Var v = solvable_symbol(size, SymbolKind::Quotient);
    if (!v) v = solvable_symbol(size, SymbolKind::Size);
    if (!v) return std::nullopt;
    int64_t least = solver_.implies(solved_.domain, Poly(1) <= size) ? 1 : 0;
    if (least == 0 && !solver_.implies(solved_.domain, Poly(0) <= size)) return std::nullopt;
    Var name = pool.fresh("n", SymbolKind::Size, least);
    Naming r{v, name, Poly::symbol(name) - (size - Poly::symbol(v)), {}};
    if (v->kind == SymbolKind::Size) {
      add(r.facts, Poly(v->min) <= r.by);
    } else {
      const Poly &n = *v->numerator, &d = *v->denominator;
      if (!solver_.implies(solved_.domain, Poly(1) <= placed(d))) return std::nullopt;
      add(r.facts, d * r.by <= n && n < d * (r.by + Poly(1)));
    }
    return r;
  }

  /// A symbol is replaced everywhere, and what that makes solvable is solved.
  void replace(const Naming& naming);

  const RuleInstance& instance_;
  SolvedDomain solved_;
  ArithmeticSolver& solver_;
  std::vector<Var> names_;
};

/// A size that all terms of p have as a factor and that is not 0.
Var common_factor(const Poly& p) {
  if (p.constant() != 0 || p.terms().empty()) return nullptr;
  auto has = [](const auto& t, Var v) {
    return std::find(t.monomial.begin(), t.monomial.end(), v) != t.monomial.end();
  };
  for (Var v : p.terms()[0].monomial)
    if (v->kind == SymbolKind::Size && v->min >= 1 &&
        std::ranges::all_of(p.terms(), [&](const auto& t) { return has(t, v); }))
      return v;
  return nullptr;
}

Poly without_common_factors(Poly p) {
  while (Var v = common_factor(p)) {
    Poly r;
    for (const auto& t : p.terms()) {
      auto rest = t.monomial;
      rest.erase(std::find(rest.begin(), rest.end(), v));
      r = r + (rest.empty() ? Poly(t.coefficient) : Poly::product(rest, t.coefficient));
    }
    p = std::move(r);
  }
  return p;
}

void Namer::replace(const Naming& naming) {
  Substitution s{{naming.replaced, naming.by}};
  Conjunction domain;
  auto keep = [&](const Conjunction& all) {
    for (const Formula& f : substitute(all, s))
      add(domain, f.kind == Formula::Zero ? is_zero(without_common_factors(f.poly)) : f);
  };
  keep(solved_.domain);
  keep(naming.facts);
  SolvedDomain more = solve_sizes(domain), r{{}, more.domain, true};
  for (const auto& [x, old] : solved_.sizes)
    r.sizes[x] = substitute(substitute(old, s), more.sizes);
  r.sizes[naming.replaced] = substitute(naming.by, more.sizes);
  for (const auto& [x, e] : more.sizes) r.sizes[x] = e;
  solved_ = std::move(r);
}

}  // namespace

std::optional<SolvedDomain> with_named_sizes(const RuleInstance& instance, SolvedDomain solved,
                                             ArithmeticSolver& solver) {
  return Namer(instance, std::move(solved), solver).run();
}

}  // namespace regraft::verify

#include "verify/normal/unify.h"

#include "verify/normal/sums.h"

namespace regraft::verify {

bool same_head(const Atom& a, const Atom& b) {
  if (a.kind != b.kind || (a.head != b.head && a.kind != Atom::Max)) return false;
  if (a.positions.size() != b.positions.size() || a.reals.size() != b.reals.size()) return false;
  for (size_t i = 0; i < a.reals.size(); ++i)
    if (!same_real(a.reals[i], b.reals[i])) return false;
  for (size_t i = 0; i < a.positions.size(); ++i) {
    Poly d = a.positions[i] - b.positions[i];
    if (d.is_constant() && !d.is_zero()) return false;
  }
  return true;
}
bool same_signature(const Product& p, const Product& q) {
  if (p.bound.size() != q.bound.size() || p.atoms.size() != q.atoms.size()) return false;
  for (size_t i = 0; i < p.atoms.size(); ++i)
    if (p.atoms[i].kind != q.atoms[i].kind ||
        (p.atoms[i].head != q.atoms[i].head && p.atoms[i].kind != Atom::Max))
      return false;
  return true;
}

std::vector<Poly> equations(const Atom& a, const Atom& b, int hint) {
  std::vector<Poly> all;
  for (size_t i = 0; i < a.positions.size(); ++i) all.push_back(a.positions[i] - b.positions[i]);
  if (!a.argument) return all;
  for (const auto& p : a.argument->products)
    for (const auto& q : b.argument->products) {
      if (!same_signature(p, q) || hint-- > 0) continue;
      std::vector<Var> inner = a.bound;
      for (const auto* vs : {&b.bound, &p.bound, &q.bound})
        inner.insert(inner.end(), vs->begin(), vs->end());
      for (size_t i = 0; i < p.atoms.size(); ++i)
        for (auto& e : equations(p.atoms[i], q.atoms[i], 0))
          if (!mentions_any(e, inner)) all.push_back(std::move(e));
      return all;
    }
  return all;
}

Substitution solve(std::vector<Poly> equations, std::vector<Var> unknowns) {
  Substitution solved;
  auto eliminate = [&]() -> bool {
    for (size_t i = 0; i < equations.size(); ++i)
      for (size_t u = 0; u < unknowns.size(); ++u) {
        Poly e;
        if (!solve_for(equations[i], unknowns[u], e)) continue;
        Substitution s{{unknowns[u], e}};
        for (auto& [v, x] : solved) x = substitute(x, s);
        solved[unknowns[u]] = e;
        drop(equations, i);
        drop(unknowns, u);
        for (auto& x : equations) x = substitute(x, s);
        return true;
      }
    return false;
  };
  while (eliminate()) {
  }
  return solved;
}

std::vector<Var> missing(const std::vector<Var>& all, const Substitution& s) {
  std::vector<Var> left;
  for (Var v : all)
    if (!s.count(v)) left.push_back(v);
  return left;
}

bool mentions_one_of(const Substitution& s, const std::vector<Var>& symbols) {
  return std::any_of(s.begin(), s.end(), [&](auto& x) { return mentions_any(x.second, symbols); });
}

}  // namespace regraft::verify

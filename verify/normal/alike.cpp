#include "verify/normal/alike.h"

#include <algorithm>

namespace regraft::verify {
namespace {

Substitution renaming(const std::vector<Var>& from, const std::vector<Var>& to) {
  Substitution s;
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] != to[i]) s[from[i]] = Poly::symbol(to[i]);
  return s;
}

bool alike_atoms(const Atom& a, Atom b) {
  if (a.kind != b.kind || a.head != b.head || a.bound.size() != b.bound.size() ||
      !a.argument != !b.argument)
    return false;
  if (Substitution s = renaming(b.bound, a.bound); !s.empty()) b = substitute(std::move(b), s);
  return std::equal(a.positions.begin(), a.positions.end(), b.positions.begin(), b.positions.end(),
                    [](const Poly& p, const Poly& q) { return same(p, q); }) &&
         std::equal(a.reals.begin(), a.reals.end(), b.reals.begin(), b.reals.end(), same_real) &&
         same_conditions(a.guard, b.guard) && (!a.argument || alike(*a.argument, *b.argument));
}

bool same_outline(const Product& p, const Product& q) {
  return p.bound.size() == q.bound.size() && p.guard.size() == q.guard.size() &&
         std::equal(
             p.atoms.begin(), p.atoms.end(), q.atoms.begin(), q.atoms.end(),
             [](const Atom& a, const Atom& b) { return a.kind == b.kind && a.head == b.head; });
}

}  // namespace

bool same_conditions(const Conjunction& a, const Conjunction& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Formula& f, const Formula& g) { return compare(f, g) == 0; });
}

bool alike(const Product& p, const Product& q) {
  if (!same_outline(p, q)) return false;
  Substitution s = renaming(q.bound, p.bound);
  Product other = s.empty() ? q : substitute(q, s);
  return same_conditions(p.guard, other.guard) &&
         std::equal(p.atoms.begin(), p.atoms.end(), other.atoms.begin(),
                    [](const Atom& a, const Atom& b) { return alike_atoms(a, b); });
}

bool alike(const Sum& a, const Sum& b) {
  return std::equal(a.products.begin(), a.products.end(), b.products.begin(), b.products.end(),
                    [](const Product& p, const Product& q) {
                      return p.coefficient == q.coefficient && alike(p, q);
                    });
}

}  // namespace regraft::verify

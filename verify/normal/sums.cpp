#include "verify/normal/sums.h"

namespace regraft::verify {
namespace {

/// Which product of a sum is scaled to have coefficient 1.
bool before(const Product& a, const Product& b) {
  if (a.atoms.size() != b.atoms.size()) return a.atoms.size() > b.atoms.size();
  for (size_t i = 0; i < a.atoms.size(); ++i) {
    std::pair x(a.atoms[i].kind, a.atoms[i].head), y(b.atoms[i].kind, b.atoms[i].head);
    if (x != y) return x < y;
  }
  return a.bound.size() < b.bound.size();
}
}  // namespace

Rational leading(const Sum& s) {
  return std::min_element(s.products.begin(), s.products.end(), before)->coefficient;
}

Sum single(Product p) {
  Sum s;
  s.products.push_back(std::move(p));
  return s;
}
void scale(Sum& s, Rational c) {
  for (auto& p : s.products) p.coefficient = p.coefficient * c;
}
Sum scaled(Sum s, Rational c) {
  scale(s, c);
  return s;
}

Sum difference(Sum a, const Sum& b) { return std::move(a) + scaled(b, {-1, 1}); }

Conjunction both(Conjunction a, const Conjunction& b) {
  for (const auto& f : b) add(a, f);
  return a;
}

Sum without_denominator(const std::vector<Product>& s, const Atom& d,
                        const std::function<bool(const Atom&, const Product&)>& same) {
  Atom integer = d;
  integer.kind = Atom::Number;
  Sum factor = d.argument ? *d.argument : sum_of(integer), cleared;
  for (const Product& q : s) {
    Sum one = single(q);
    auto& atoms = one.products[0].atoms;
    auto it = std::find_if(atoms.begin(), atoms.end(), [&](const Atom& a) { return same(a, q); });
    if (it != atoms.end())
      atoms.erase(it);
    else
      one = one * rename_bound(factor);
    cleared = std::move(cleared) + one;
  }
  return cleared;
}

Sum sum_of(Atom a) {
  Product p;
  p.atoms.push_back(std::move(a));
  return single(std::move(p));
}

Sum product_of(const std::vector<Atom>& atoms, Rational c) {
  Product p;
  p.coefficient = c;
  p.atoms = atoms;
  return single(std::move(p));
}

Sum function_of(Fn f, Sum x) {
  Atom a;
  a.kind = Atom::Apply;
  a.head = static_cast<int>(f);
  a.argument = std::make_shared<Sum>(rename_bound(std::move(x)));
  return sum_of(std::move(a));
}

Sum number(Rational r) {
  if (r.n == 0) return {};
  Product p;
  p.coefficient = r;
  return single(std::move(p));
}

const Atom* only_atom(const Sum& s) {
  if (s.products.size() != 1) return nullptr;
  const Product& p = s.products[0];
  bool alone = bare(p) && p.coefficient == Rational{1, 1} && p.atoms.size() == 1;
  return alone ? &p.atoms[0] : nullptr;
}

bool is_function(const Atom& a, Fn f) {
  return a.kind == Atom::Apply && a.head == static_cast<int>(f);
}

const FnFacts* function_facts(const Atom& a) {
  return a.kind == Atom::Apply ? &facts(static_cast<Fn>(a.head)) : nullptr;
}

bool increases(const Atom& a) {
  const FnFacts* f = function_facts(a);
  return a.kind == Atom::Clip || (f && f->increasing);
}

Sum maximum_of(Atom m, Sum argument) {
  m.argument = std::make_shared<Sum>(std::move(argument));
  return sum_of(std::move(m));
}

bool mentions(const Atom& a, Var v) {
  auto says = [&](const auto& x) { return mentions(x, v); };
  return std::any_of(a.positions.begin(), a.positions.end(), says) ||
         std::any_of(a.guard.begin(), a.guard.end(), says) ||
         (a.argument && mentions(*a.argument, v));
}
bool mentions(const Product& p, Var v) {
  auto says = [&](const auto& x) { return mentions(x, v); };
  return std::any_of(p.guard.begin(), p.guard.end(), says) ||
         std::any_of(p.atoms.begin(), p.atoms.end(), says);
}

Atom integer_atom(Atom::Kind kind, Poly p) {
  Atom a;
  a.kind = kind;
  a.positions = {std::move(p)};
  return a;
}

Product without_atom(Product p, size_t k) {
  drop(p.atoms, k);
  return p;
}
Product without_atoms(Product p, size_t i, size_t j) {
  return without_atom(without_atom(std::move(p), std::max(i, j)), std::min(i, j));
}

}  // namespace regraft::verify

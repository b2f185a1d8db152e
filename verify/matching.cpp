#include "verify/matching.h"

#include <algorithm>
#include <numeric>

namespace regraft::verify {
namespace {

constexpr int kPairings = 200;  // of the atoms of two products

/// The two may be the same factor at different positions.
bool same_head(const Atom& a, const Atom& b) {
  if (a.kind != b.kind || a.head != b.head) return false;
  if (a.positions.size() != b.positions.size() || a.reals.size() != b.reals.size()) return false;
  if (a.bound.size() != b.bound.size()) return false;
  for (size_t i = 0; i < a.reals.size(); ++i)
    if (!same_real(a.reals[i], b.reals[i])) return false;
  for (size_t i = 0; i < a.positions.size(); ++i) {
    Poly d = a.positions[i] - b.positions[i];
    if (d.is_constant() && !d.is_zero()) return false;
  }
  return true;
}
/// Of two products in normal form, whose atoms are sorted.
bool same_signature(const Product& p, const Product& q) {
  if (p.bound.size() != q.bound.size() || p.atoms.size() != q.atoms.size()) return false;
  for (size_t i = 0; i < p.atoms.size(); ++i)
    if (p.atoms[i].kind != q.atoms[i].kind || p.atoms[i].head != q.atoms[i].head) return false;
  return true;
}

/// What must be 0 for the atoms to be equal; of function arguments, what the hint-th pair of
/// similar products says (everything is verified afterwards).
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
          if (std::none_of(inner.begin(), inner.end(), [&](Var v) { return mentions(e, v); }))
            all.push_back(std::move(e));
      return all;
    }
  return all;
}

/// Values of the unknowns from equations, by elimination; what is not determined is left out.
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
        equations.erase(equations.begin() + static_cast<std::ptrdiff_t>(i));
        unknowns.erase(unknowns.begin() + static_cast<std::ptrdiff_t>(u));
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
  for (const auto& [v, e] : s)
    for (Var x : symbols)
      if (mentions(e, x)) return true;
  return false;
}

/// q with bound variables of its own where it shares some with p.
Product renamed_apart(Product q, const Product& p) {
  Substitution rename;
  for (Var& v : q.bound)
    if (std::find(p.bound.begin(), p.bound.end(), v) != p.bound.end()) {
      Var w = v->pool->fresh(v->name, SymbolKind::Bound);
      rename[v] = Poly::symbol(w);
      v = w;
    }
  return rename.empty() ? q : substitute(std::move(q), rename);
}

Sum difference(Sum a, const Sum& b) {
  for (Product p : b.products) {
    p.coefficient = p.coefficient * Rational{-1, 1};
    a.products.push_back(std::move(p));
  }
  return a;
}

}  // namespace

bool Matcher::proves_zero(const Sum& sum, const Conjunction& domain) {
  simplifier_.set_small_loops(SmallLoops::Keep);
  for (Products p : {Products::Opaque, Products::Exact}) {
    simplifier_.set_products(p);
    if (is_zero(sum, domain)) return true;
  }
  std::string first = stuck_at_;
  simplifier_.set_small_loops(SmallLoops::Unroll);
  uint64_t before = simplifier_.unrolled();
  bool zero = is_zero(sum, domain);
  bool unrolled = simplifier_.unrolled() > before;
  if (!unrolled) stuck_at_ = first;
  return zero && unrolled;
}

bool Matcher::is_zero(const Sum& sum, const Conjunction& domain) {
  budget_.step();
  if (++depth_ > 40) throw OutOfBudget{"functions nested too deep"};
  Sum normal = simplifier_.normal_form(sum, domain);
  bool zero = balance(cancel_pairs(std::move(normal.products), domain), domain);
  --depth_;
  return zero;
}

/// What is left when products that are equal up to sign are taken away in pairs.
std::vector<Product> Matcher::cancel_pairs(std::vector<Product> todo, const Conjunction& domain) {
  std::vector<Product> rest;
  while (!todo.empty()) {
    Product p = std::move(todo.back());
    todo.pop_back();
    auto partner = todo.end();
    for (auto it = todo.begin(); it != todo.end() && partner == todo.end(); ++it)
      if ((p.coefficient + it->coefficient).n == 0 && match(p, *it, domain, Domains::Equal))
        partner = it;
    if (partner != todo.end())
      todo.erase(partner);
    else
      rest.push_back(std::move(p));
  }
  return rest;
}

/// Products of the same factors under different guards: their coefficients add up to 0 everywhere.
bool Matcher::balance(std::vector<Product> rest, const Conjunction& domain) {
  while (!rest.empty()) {
    Product p = std::move(rest.back());
    rest.pop_back();
    std::vector<std::pair<Rational, Formula>> group{
        {p.coefficient, junction(Formula::And, p.guard)}};
    for (size_t i = rest.size(); i-- > 0;)
      if (auto guard = match(p, rest[i], domain, Domains::Any)) {
        group.emplace_back(rest[i].coefficient, junction(Formula::And, *guard));
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      }
    int64_t scale = 1;
    for (const auto& [c, f] : group)
      scale = (Rational::make(scale, 1) * Rational::make(c.d / std::gcd(scale, c.d), 1)).n;
    std::vector<Oracle::Weighted> terms;
    for (const auto& [c, f] : group) terms.emplace_back((c * Rational::make(scale, 1)).n, f);
    if (group.size() < 2 || !oracle_.balanced(domain, terms)) {
      Sum one;
      one.products.push_back(std::move(p));
      stuck_at_ = to_string(one);
      return false;
    }
  }
  return true;
}

/// q's guard in p's variables, when q is p up to a bijection of bound variables (and, with
/// Domains::Equal, ranges over the same values).
std::optional<Conjunction> Matcher::match(const Product& p, const Product& q,
                                          const Conjunction& domain, Domains domains) {
  if (!same_signature(p, q)) return std::nullopt;
  Product other = renamed_apart(q, p);
  Pairing pairing;
  pairings_left_ = kPairings;
  return match_from(p, other, pairing, domain, domains);
}

std::optional<Conjunction> Matcher::match_from(const Product& p, const Product& q, Pairing& pairing,
                                               const Conjunction& domain, Domains domains) {
  size_t k = pairing.size();
  if (k == p.atoms.size()) {
    bool nested = std::any_of(p.atoms.begin(), p.atoms.end(), [](auto& a) { return a.argument; });
    for (int hint = 0; hint < (nested ? 3 : 1); ++hint) {
      if (pairings_left_-- <= 0) return std::nullopt;
      if (auto guard = try_pairing(p, q, pairing, hint, domain, domains)) return guard;
    }
    return std::nullopt;
  }
  for (size_t j = 0; j < q.atoms.size(); ++j) {
    if (std::find(pairing.begin(), pairing.end(), j) != pairing.end()) continue;
    if (!same_head(p.atoms[k], q.atoms[j])) continue;
    pairing.push_back(j);
    auto guard = match_from(p, q, pairing, domain, domains);
    if (guard) return guard;
    pairing.pop_back();
  }
  return std::nullopt;
}

std::optional<Conjunction> Matcher::try_pairing(const Product& p, const Product& q,
                                                const Pairing& pairing, int hint,
                                                const Conjunction& domain, Domains domains) {
  budget_.step();
  Equations all;
  for (size_t i = 0; i < pairing.size(); ++i)
    for (auto& e : equations(p.atoms[i], q.atoms[pairing[i]], hint)) all.push_back(std::move(e));
  Substitution to = solve(all, q.bound);    // q's variables over p's
  Substitution back = solve(all, p.bound);  // p's variables over q's
  std::vector<Var> free_p = missing(p.bound, back), free_q = missing(q.bound, to);
  if (free_p.size() != free_q.size() || free_p.size() > 4) return std::nullopt;
  std::sort(free_q.begin(), free_q.end(), SymbolLess{});
  do {  // variables that no factor determines: in any order
    Substitution t = to, b = back, of_q, of_p;
    for (size_t i = 0; i < free_p.size(); ++i) {
      of_q[free_q[i]] = Poly::symbol(free_p[i]);
      of_p[free_p[i]] = Poly::symbol(free_q[i]);
    }
    for (auto& [v, e] : t) e = substitute(e, of_q);
    for (auto& [v, e] : b) e = substitute(e, of_p);
    t.insert(of_q.begin(), of_q.end());
    b.insert(of_p.begin(), of_p.end());
    if (auto guard = try_bijection(p, q, pairing, t, b, domain, domains)) return guard;
  } while (std::next_permutation(free_q.begin(), free_q.end(), SymbolLess{}));
  return std::nullopt;
}

/// The only place that accepts a pairing: the maps are inverse to each other, the ranges equal, and
/// the factors equal throughout the range.
std::optional<Conjunction> Matcher::try_bijection(const Product& p, const Product& q,
                                                  const Pairing& pairing, const Substitution& to,
                                                  const Substitution& back,
                                                  const Conjunction& domain, Domains domains) {
  budget_.step();
  if (mentions_one_of(to, q.bound) || mentions_one_of(back, p.bound)) return std::nullopt;
  for (Var v : p.bound)
    if (!same(substitute(back.at(v), to), Poly::symbol(v))) return std::nullopt;
  for (Var v : q.bound)
    if (!same(substitute(to.at(v), back), Poly::symbol(v))) return std::nullopt;
  Product carried = substitute(q, to);
  Conjunction in_p = both(domain, p.guard), in_q = both(domain, carried.guard);
  if (domains == Domains::Equal &&
      (!oracle_.implies(in_p, carried.guard) || !oracle_.implies(in_q, p.guard)))
    return std::nullopt;
  for (size_t i = 0; i < pairing.size(); ++i)
    if (!same_atom(p.atoms[i], carried.atoms[pairing[i]], in_q)) return std::nullopt;
  return carried.guard;
}

/// Equal wherever `context` holds; b is over a's variables.
bool Matcher::same_atom(const Atom& a, const Atom& b, const Conjunction& context) {
  for (size_t i = 0; i < a.positions.size(); ++i)
    if (!oracle_.implies(context, a.positions[i] == b.positions[i])) return false;
  if (!a.argument) return true;
  return a.kind == Atom::Max ? same_maximum(a, b, context)
                             : same_argument(*a.argument, *b.argument, context);
}

bool Matcher::same_maximum(const Atom& a, const Atom& b, const Conjunction& context) {
  std::vector<size_t> order(a.bound.size());
  std::iota(order.begin(), order.end(), 0);
  if (order.size() > 3) return false;
  do {
    Substitution s;
    for (size_t i = 0; i < order.size(); ++i) s[b.bound[order[i]]] = Poly::symbol(a.bound[i]);
    Conjunction guard = substitute(b.guard, s);
    if (oracle_.implies(both(context, a.guard), guard) &&
        oracle_.implies(both(context, guard), a.guard) &&
        same_argument(*a.argument, substitute(*b.argument, s), both(context, a.guard)))
      return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

bool Matcher::same_argument(const Sum& a, const Sum& b, const Conjunction& context) {
  int pairings = pairings_left_;  // the arguments' own products count for themselves
  bool same = is_zero(difference(a, b), context);
  pairings_left_ = pairings;
  return same;
}

}  // namespace regraft::verify

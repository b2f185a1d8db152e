#include "verify/normal/match.h"

#include <numeric>

#include "verify/normal/alike.h"
#include "verify/normal/simplify.h"
#include "verify/normal/sums.h"
#include "verify/normal/unify.h"

namespace regraft::verify {
namespace {

constexpr int kPairings = 200;  // of the atoms of two products

/// Equal wherever `context` holds; b is over a's variables.
bool agree(const Atom& a, const Atom& b, const Context& context) {
  for (size_t i = 0; i < a.positions.size(); ++i)
    if (!context.implies(a.positions[i] == b.positions[i])) return false;
  if (!a.argument) return true;
  return a.kind == Atom::Max ? same_maximum(a, b, context)
                             : same_value(*a.argument, *b.argument, context);
}

/// Which values the two ranges of a bijection are to have.
enum class Ranges : uint8_t { Equal, Any };

/// Looks for a bijection of bound variables that makes product q product p. They share none.
class Bijections {
 public:
  Bijections(const Product& p, const Product& q, const Context& context, Ranges ranges)
      : p_(p), q_(q), context_(context), ranges_(ranges) {}
  /// q's guard in p's variables.
  std::optional<Conjunction> find() { return find_from({}); }

 private:
  using Pairing = std::vector<size_t>;  ///< which atom of q stands for each atom of p
  std::optional<Conjunction> find_from(const Pairing& pairing);
  std::optional<Conjunction> try_pairing(const Pairing& pairing, int hint);
  std::optional<Conjunction> along(const Pairing& pairing, const Substitution& to,
                                   const Substitution& back);

  const Product &p_, &q_;
  const Context& context_;
  Ranges ranges_;
  int left_ = kPairings;
};

std::optional<Conjunction> Bijections::find_from(const Pairing& pairing) {
  size_t k = pairing.size();
  if (left_ <= 0) return std::nullopt;
  if (k == p_.atoms.size()) {
    bool nested = std::any_of(p_.atoms.begin(), p_.atoms.end(), [](auto& a) { return a.argument; });
    for (int hint = 0; hint < (nested ? 3 : 1); ++hint) {
      if (left_-- <= 0) return std::nullopt;
      if (auto guard = try_pairing(pairing, hint)) return guard;
    }
    return std::nullopt;
  }
  for (size_t j = 0; j < q_.atoms.size(); ++j) {
    if (std::find(pairing.begin(), pairing.end(), j) != pairing.end()) continue;
    if (!same_head(p_.atoms[k], q_.atoms[j])) continue;
    Pairing longer = pairing;
    longer.push_back(j);
    if (auto guard = find_from(longer)) return guard;
  }
  return std::nullopt;
}

std::optional<Conjunction> Bijections::try_pairing(const Pairing& pairing, int hint) {
  context_.budget().step();
  std::vector<Poly> all;
  for (size_t i = 0; i < pairing.size(); ++i)
    for (auto& e : equations(p_.atoms[i], q_.atoms[pairing[i]], hint)) all.push_back(std::move(e));
  Substitution to = solve(all, q_.bound);    // q's variables over p's
  Substitution back = solve(all, p_.bound);  // p's variables over q's
  std::vector<Var> free_p = missing(p_.bound, back), free_q = missing(q_.bound, to);
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
    if (auto guard = along(pairing, t, b)) return guard;
  } while (std::next_permutation(free_q.begin(), free_q.end(), SymbolLess{}));
  return std::nullopt;
}

/// The only place that accepts a pairing: the maps are inverse to each other, the ranges equal, and
/// the factors equal throughout the range.
std::optional<Conjunction> Bijections::along(const Pairing& pairing, const Substitution& to,
                                             const Substitution& back) {
  context_.budget().step();
  if (mentions_one_of(to, q_.bound) || mentions_one_of(back, p_.bound)) return std::nullopt;
  for (Var v : p_.bound)
    if (!same(substitute(back.at(v), to), Poly::symbol(v))) return std::nullopt;
  for (Var v : q_.bound)
    if (!same(substitute(to.at(v), back), Poly::symbol(v))) return std::nullopt;
  Product carried = substitute(q_, to);
  const Context in_p = context_.where(p_.guard), in_q = context_.where(carried.guard);
  if (ranges_ == Ranges::Equal && (!in_p.implies(carried.guard) || !in_q.implies(p_.guard)))
    return std::nullopt;
  for (size_t i = 0; i < pairing.size(); ++i)
    if (!agree(p_.atoms[i], carried.atoms[pairing[i]], in_q)) return std::nullopt;
  return carried.guard;
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

/// q's guard in p's variables, when q is p up to a bijection of bound variables (and, with
/// Ranges::Equal, over the same values).
std::optional<Conjunction> match(const Product& p, const Product& q, const Context& context,
                                 Ranges ranges) {
  if (!same_signature(p, q)) return std::nullopt;
  Product other = renamed_apart(q, p);
  return Bijections(p, other, context, ranges).find();
}

/// Without pairs of products that are the same as they stand but for their sign.
Sum without_pairs(Sum s) {
  auto& all = s.products;
  for (size_t i = 0; i < all.size();) {
    size_t j = i + 1;
    while (j < all.size() &&
           ((all[i].coefficient + all[j].coefficient).n != 0 || !alike(all[i], all[j])))
      ++j;
    if (j == all.size()) {
      ++i;
      continue;
    }
    drop(all, j);
    drop(all, i);
  }
  return s;
}

/// What is left when products that are equal up to sign are taken away in pairs.
std::vector<Product> cancel_pairs(std::vector<Product> todo, const Context& context) {
  std::vector<Product> rest;
  while (!todo.empty()) {
    Product p = std::move(todo.back());
    todo.pop_back();
    auto partner = todo.end();
    for (auto it = todo.begin(); it != todo.end() && partner == todo.end(); ++it)
      if ((p.coefficient + it->coefficient).n == 0 && match(p, *it, context, Ranges::Equal))
        partner = it;
    if (partner != todo.end())
      todo.erase(partner);
    else
      rest.push_back(std::move(p));
  }
  return rest;
}

/// Products of the same factors under different guards, whose coefficients are to add up to 0
/// everywhere: one for which this is not shown.
std::optional<Product> unbalanced(std::vector<Product> rest, const Context& context) {
  while (!rest.empty()) {
    Product p = std::move(rest.back());
    rest.pop_back();
    std::vector<std::pair<Rational, Formula>> group{
        {p.coefficient, junction(Formula::And, p.guard)}};
    for (size_t i = rest.size(); i-- > 0;)
      if (auto guard = match(p, rest[i], context, Ranges::Any)) {
        group.emplace_back(rest[i].coefficient, junction(Formula::And, *guard));
        drop(rest, i);
      }
    int64_t scale = 1;
    for (const auto& [c, f] : group)
      scale = (Rational::make(scale, 1) * Rational::make(c.d / std::gcd(scale, c.d), 1)).n;
    std::vector<ArithmeticSolver::Weighted> terms;
    for (const auto& [c, f] : group) terms.emplace_back((c * Rational::make(scale, 1)).n, f);
    if (group.size() < 2 || !context.solver().balanced(context.domain(), terms)) return p;
  }
  return std::nullopt;
}

}  // namespace

Remainder remainder_of(const Sum& sum, const Context& context) {
  context.budget().step();
  const Context inner = context.deeper();
  Sum normal = without_pairs(normal_form(without_pairs(sum), inner));
  Remainder r{{cancel_pairs(std::move(normal.products), inner)}, {}};
  r.open = unbalanced(r.sum.products, inner);
  return r;
}

bool is_zero(const Sum& sum, const Context& context) { return !remainder_of(sum, context).open; }

bool same_value(const Sum& a, const Sum& b, const Context& context) {
  return is_zero(difference(a, b), context);
}

bool covers(const Known& known, const Sum& value, const Context& context) {
  bool outlines = known.value.products.size() == value.products.size();
  if (!outlines && !(context.thorough && known.bound.empty() && known.value.products.size() > 1))
    return false;
  if (!value.products.empty() &&
      std::none_of(known.value.products.begin(), known.value.products.end(),
                   [&](const Product& p) { return same_signature(p, value.products[0]); }))
    return false;
  if (known.bound.empty())
    return context.implies(known.guard) && same_value(value, known.value, context);
  Atom all;
  all.bound = known.bound;
  all.guard = known.guard;
  all.argument = std::make_shared<Sum>(known.value);
  return takes_value(value, all, {}, context);
}

bool equal(const Sum& a, const Sum& b, const Context& context) {
  return covers({b, {}, {}, {}}, a, context);
}

bool same_factor(const Atom& a, const Atom& b, const Context& context) {
  return same_head(a, b) && agree(a, b, context);
}

bool same_atom(const Atom& a, const Atom& b, const Context& context) {
  if (a.kind != b.kind || a.head != b.head || a.positions.size() != b.positions.size() ||
      a.reals.size() != b.reals.size() || !a.argument != !b.argument)
    return false;
  for (size_t i = 0; i < a.positions.size(); ++i) {
    Poly d = a.positions[i] - b.positions[i];
    if (d.is_zero()) continue;
    if (d.is_constant() || !context.implies(is_zero(d), Products::Opaque)) return false;
  }
  for (size_t i = 0; i < a.reals.size(); ++i)
    if (!same_real(a.reals[i], b.reals[i])) return false;
  if (!a.argument) return true;
  if (a.kind == Atom::Max) return equal(sum_of(a), sum_of(b), context);
  return a.argument == b.argument || equal(*a.argument, *b.argument, context);
}

}  // namespace regraft::verify

#include "verify/prove/matching.h"

#include "verify/normal/alike.h"
#include "verify/normal/sums.h"

#include <algorithm>
#include <numeric>

namespace regraft::verify {
namespace {

constexpr int kPairings = 200;      // of the atoms of two products
constexpr int kClearings = 24;      // denominators and cases of one proof by laws
constexpr size_t kLargestSum = 60;  // products of a sum whose denominators are cleared

/// The two may be the same factor at different positions.
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
/// Of two products in normal form, whose atoms are sorted.
bool same_signature(const Product& p, const Product& q) {
  if (p.bound.size() != q.bound.size() || p.atoms.size() != q.atoms.size()) return false;
  for (size_t i = 0; i < p.atoms.size(); ++i)
    if (p.atoms[i].kind != q.atoms[i].kind ||
        (p.atoms[i].head != q.atoms[i].head && p.atoms[i].kind != Atom::Max))
      return false;
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

bool has_functions(const Sum& s) {
  return std::any_of(s.products.begin(), s.products.end(), [](const Product& p) {
    return std::any_of(p.atoms.begin(), p.atoms.end(),
                       [](const Atom& a) { return a.argument || a.kind == Atom::Recip; });
  });
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
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(j));
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return s;
}

bool looks_up(const Poly& p) {
  return std::any_of(p.terms().begin(), p.terms().end(), [](auto& t) {
    return std::any_of(t.monomial.begin(), t.monomial.end(), [](Var v) {
      return v->kind == SymbolKind::Lookup ||
             (v->numerator && (looks_up(*v->numerator) || looks_up(*v->denominator)));
    });
  });
}
/// A table of numbers says what is read.
bool looks_up(const Sum& s) {
  return std::any_of(s.products.begin(), s.products.end(), [](const Product& p) {
    return std::any_of(p.atoms.begin(), p.atoms.end(), [](const Atom& a) {
      return std::any_of(a.positions.begin(), a.positions.end(),
                         [](const Poly& x) { return looks_up(x); }) ||
             (a.argument && looks_up(*a.argument));
    });
  });
}

Sum difference(Sum a, const Sum& b) {
  for (Product p : b.products) {
    p.coefficient = p.coefficient * Rational{-1, 1};
    a.products.push_back(std::move(p));
  }
  return a;
}

}  // namespace

Matcher::Matcher(ArithmeticSolver& solver, Budget& budget)
    : solver_(solver),
      budget_(budget),
      simplifier_(solver, budget),
      laws_(solver, [this](const Known& k, const Sum& value, const Conjunction& context) {
        return covers(k, value, context);
      }) {}

bool Matcher::proves_equal(const Side& left, const Side& right, const Conjunction& all) {
  Sum sum = difference(left.value, right.value);
  bool functions = has_functions(sum) || !left.partial.empty() || !right.partial.empty();
  const Conjunction domain = functions ? where_defined(left, all) : all;
  if (functions && !is_defined(left, right, domain)) return false;
  if (!keeps_maxima(left, right, domain)) {
    stuck_at_ = " a maximum, perhaps of nothing, that a factor 0 takes out of the formula";
    return false;
  }
  for (Products p : {Products::Opaque, Products::Exact}) {
    simplifier_.set_products(p);
    if (is_zero(sum, domain)) return true;
  }
  std::string first = stuck_at_;
  if (try_unrolled(sum, domain) || (looks_up(sum) && at_each_position(sum, domain))) return true;
  if (functions) assume_defined(left, domain);
  laws_.set_maxima_defined(functions && has_maxima(left.value, right.value, domain));
  if (functions && by_laws(sum, domain)) return true;
  stuck_at_ = first;
  return false;
}

/// Loops over few numbers as sums.
bool Matcher::try_unrolled(const Sum& sum, const Conjunction& domain) {
  simplifier_.set_small_loops(SmallLoops::Unroll);
  uint64_t before = simplifier_.unrolled();
  bool zero = is_zero(sum, domain);
  simplifier_.set_small_loops(SmallLoops::Keep);
  return zero && simplifier_.unrolled() > before;
}

/// Positions of few numbers one after the other: tables are looked up there.
bool Matcher::at_each_position(const Sum& sum, const Conjunction& domain) {
  constexpr int64_t kFew = 8;
  for (const Formula& f : domain)
    for (const auto& t : f.poly.terms()) {
      Var v = t.monomial[0];
      auto range = v->kind == SymbolKind::Position ? constant_range(domain, v) : std::nullopt;
      if (!range || range->high - range->low >= kFew) continue;
      for (int64_t k = range->low; k <= range->high; ++k) {
        if (!budget_.split()) return false;
        Substitution there{{v, Poly(k)}};
        if (!at_each_position(substitute(sum, there), substitute(domain, there))) return false;
      }
      return true;
    }
  simplifier_.set_small_loops(SmallLoops::Unroll);
  bool zero = is_zero(sum, domain);
  simplifier_.set_small_loops(SmallLoops::Keep);
  return zero;
}

bool Matcher::by_laws(const Sum& sum, const Conjunction& domain) {
  simplifier_.set_laws(&laws_);
  for (auto expand : {Laws::Expand::Nothing, Laws::Expand::Clips, Laws::Expand::All}) {
    laws_.set_expand(expand);
    lawful_ = true;
    clearing_ = 0;
    bool zero = is_zero(sum, domain);
    lawful_ = false;
    if (zero) return true;
  }
  return false;
}

bool Matcher::is_zero(const Sum& sum, const Conjunction& domain) {
  budget_.step();
  if (++depth_ > 40) throw OutOfBudget{"functions nested too deep"};
  Sum normal = without_pairs(simplifier_.normal_form(without_pairs(sum), domain));
  std::vector<Product> rest = cancel_pairs(std::move(normal.products), domain);
  bool zero = balance(rest, domain);
  if (!zero && lawful_ && clearing_ < kClearings)
    zero = zero_without_denominators(rest, domain) || zero_by_cases(rest, domain);
  --depth_;
  return zero;
}

/// The sum times a denominator of it, which is not 0: where its product is evaluated, if only for
/// some values of the product's bound variables.
bool Matcher::zero_without_denominators(const std::vector<Product>& rest,
                                        const Conjunction& domain) {
  if (rest.size() > kLargestSum) return false;
  for (const auto& p : rest)
    for (const auto& d : p.atoms) {
      bool quotient = d.kind == Atom::Recip || is_function(d, Fn::Recip);
      if (!quotient ||
          std::any_of(p.bound.begin(), p.bound.end(), [&](Var v) { return mentions(d, v); }))
        continue;
      if (d.kind == Atom::Recip && !solver_.implies(domain, Poly(1) <= d.positions[0])) continue;
      if (d.kind == Atom::Apply && !laws_.not_empty(p.bound, p.guard, domain)) {
        if (p.bound.empty()) return zero_where_or_not(rest, p.guard, domain);
        continue;
      }
      Sum cleared = without_denominator(rest, d, [&](const Atom& a, const Product& q) {
        return same_head(a, d) && same_atom(a, d, both(domain, q.guard));
      });
      ++clearing_;
      return is_zero(cleared, domain);
    }
  return false;
}

/// Once where the guard of a product holds, once where it does not.
bool Matcher::zero_where_or_not(const std::vector<Product>& rest, const Conjunction& guard,
                                const Conjunction& domain) {
  Formula g = junction(Formula::And, guard);
  ++clearing_;
  Sum sum;
  sum.products = rest;
  return is_zero(sum, both(domain, {g})) && is_zero(sum, both(domain, {negate(g)}));
}

namespace {

using Decided = std::function<bool(const Atom&)>;

/// What decides a relu or a factor of a maximum, and depends on no bound variable: the argument or,
/// of a product, a factor. `decided`: the sign is known.
std::optional<Sum> deciding(const std::vector<Product>& products, std::vector<Var> bound,
                            const Decided& decided) {
  for (const auto& p : products) {
    std::vector<Var> inner = bound;
    inner.insert(inner.end(), p.bound.begin(), p.bound.end());
    for (const auto& a : p.atoms) {
      if (!a.argument) continue;
      std::vector<Var> within = inner;
      within.insert(within.end(), a.bound.begin(), a.bound.end());
      if (auto s = deciding(a.argument->products, within, decided)) return s;
      auto free = [&](const auto& x) {
        return std::none_of(within.begin(), within.end(), [&](Var v) { return mentions(x, v); });
      };
      if (a.argument->products.empty()) continue;
      const Product& x = a.argument->products[0];
      bool factors = a.argument->products.size() == 1 && x.atoms.size() > 1;
      if (a.kind == Atom::Max && factors && x.bound.empty())
        for (const Atom& f : x.atoms)
          if (free(f) && !decided(f)) return sum_of(f);
      if (!is_function(a, Fn::Relu) || !free(*a.argument)) continue;
      return factors && x.bound.empty() && x.guard.empty() ? sum_of(x.atoms[0]) : *a.argument;
    }
  }
  return std::nullopt;
}

}  // namespace

/// Once where what decides a relu is not negative, once where it is not positive.
bool Matcher::zero_by_cases(const std::vector<Product>& rest, const Conjunction& domain) {
  Sum sum;
  sum.products = rest;
  if (implies(laws_.sign(sum, domain), sign::kZero)) return true;
  auto argument = deciding(rest, {}, [&](const Atom& a) {
    Sign x = laws_.sign(sum_of(a), domain);
    return x.one_sided();
  });
  if (!argument) return false;
  ++clearing_;
  size_t known = laws_.known();
  for (Sign x : {sign::kNotNegative, sign::kNotPositive}) {
    laws_.learn(*argument, x, {}, {});
    bool zero = is_zero(sum, domain);
    laws_.forget(known);
    if (!zero) return false;
  }
  return true;
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
    std::vector<ArithmeticSolver::Weighted> terms;
    for (const auto& [c, f] : group) terms.emplace_back((c * Rational::make(scale, 1)).n, f);
    if (group.size() < 2 || !solver_.balanced(domain, terms)) {
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
      (!solver_.implies(in_p, carried.guard) || !solver_.implies(in_q, p.guard)))
    return std::nullopt;
  for (size_t i = 0; i < pairing.size(); ++i)
    if (!same_atom(p.atoms[i], carried.atoms[pairing[i]], in_q)) return std::nullopt;
  return carried.guard;
}

/// Equal wherever `context` holds; b is over a's variables.
bool Matcher::same_atom(const Atom& a, const Atom& b, const Conjunction& context) {
  for (size_t i = 0; i < a.positions.size(); ++i)
    if (!solver_.implies(context, a.positions[i] == b.positions[i])) return false;
  if (!a.argument) return true;
  return a.kind == Atom::Max ? same_maximum(a, b, context)
                             : same_argument(*a.argument, *b.argument, context);
}

bool Matcher::same_maximum(const Atom& a, const Atom& b, const Conjunction& context) {
  std::vector<size_t> order(a.bound.size());
  std::iota(order.begin(), order.end(), 0);
  bool in_pairs = order.size() == b.bound.size() && order.size() <= 3;
  if (in_pairs) do {
      Substitution s;
      for (size_t i = 0; i < order.size(); ++i) s[b.bound[order[i]]] = Poly::symbol(a.bound[i]);
      Conjunction guard = substitute(b.guard, s);
      if (solver_.implies(both(context, a.guard), guard) &&
          solver_.implies(both(context, guard), a.guard) &&
          same_argument(*a.argument, substitute(*b.argument, s), both(context, a.guard)))
        return true;
    } while (std::next_permutation(order.begin(), order.end()));
  return takes_all_values(b, a, context) && takes_all_values(a, b, context);
}

/// Every value of maximum a is one of maximum b, so that b is not less than a.
bool Matcher::takes_all_values(const Atom& a, const Atom& b, const Conjunction& context) {
  Conjunction within = both(context, a.guard);
  if (solver_.refuted(within)) return true;
  Sum value = simplifier_.normal_form(*a.argument, within);
  for (const auto& p : value.products)
    for (const auto& g : p.guard) {
      if (mentions_any(g, p.bound) || solver_.decides(within, g) || !budget_.split()) continue;
      Atom yes = a, no = a;
      add(yes.guard, g);
      add(no.guard, negate(g));
      return takes_all_values(yes, b, context) && takes_all_values(no, b, context);
    }
  if (const Atom* inner = only_atom(value); inner && inner->kind == Atom::Max)
    return takes_all_values(*inner, b, within);
  return takes_value(value, b, a.bound, within);
}

/// `value` is one of those of maximum b; `variables` may stand for what nothing determines.
bool Matcher::takes_value(const Sum& value, const Atom& b, const std::vector<Var>& variables,
                          const Conjunction& context) {
  Atom other = b;
  Substitution rename;
  for (Var& v : other.bound) {
    Var w = v->pool->fresh(v->name, SymbolKind::Bound);
    rename[v] = Poly::symbol(w);
    v = w;
  }
  other.argument = std::make_shared<Sum>(substitute(*b.argument, rename));
  other.guard = substitute(b.guard, rename);
  Conjunction open = context;  // where no place was found so far
  for (const auto& p : value.products)
    for (const auto& q : other.argument->products)
      for (const Substitution& at : places(p, q, other, variables)) {
        budget_.step();
        Conjunction range = substitute(other.guard, at), there = both(open, range);
        bool everywhere = solver_.implies(open, range);
        if (!everywhere && solver_.refuted(there)) continue;
        if (!same_argument(value, substitute(*other.argument, at), there)) continue;
        if (everywhere) return true;
        add(open, negate(junction(Formula::And, range)));
        if (solver_.refuted(open)) return true;
      }
  return false;
}

/// Values of the variables of maximum b at which product q of its argument may be p.
std::vector<Substitution> Matcher::places(const Product& p, const Product& q, const Atom& b,
                                          const std::vector<Var>& variables) const {
  if (p.atoms.size() != q.atoms.size()) return {};
  Equations all;
  for (size_t i = 0; i < p.atoms.size(); ++i) {
    if (!same_head(p.atoms[i], q.atoms[i])) return {};
    for (auto& e : equations(p.atoms[i], q.atoms[i], 0)) all.push_back(std::move(e));
  }
  Substitution solved = solve(all, b.bound);
  std::vector<Substitution> found{{}};
  auto choose = [&](Var v, const std::vector<Poly>& values) {
    std::vector<Substitution> longer;
    for (const auto& s : found)
      for (const Poly& x : values) {
        longer.push_back(s);
        longer.back()[v] = x;
      }
    found = std::move(longer);
  };
  size_t next = 0;
  for (Var v : missing(b.bound, solved)) {
    std::vector<Poly> values;
    if (next < variables.size()) values.push_back(Poly::symbol(variables[next++]));
    if (auto few = constant_range(b.guard, v); few && few->high - few->low < 4) {
      for (int64_t k = few->low; k <= few->high; ++k) values.emplace_back(k);
      choose(v, values);
      continue;
    }
    values.emplace_back(0);
    for (const auto& g : b.guard) {
      Poly e;
      bool ends =
          g.kind == Formula::NonNegative && solve_for(g.poly, v, e) && !e.is_zero() &&
          std::none_of(b.bound.begin(), b.bound.end(), [&](Var x) { return mentions(e, x); });
      if (ends && values.size() < 4) values.push_back(e);
    }
    choose(v, values);
    if (found.size() > 64) return {};
  }
  for (auto& s : found) {
    Substitution chosen = s;
    for (const auto& [v, e] : solved) s[v] = substitute(e, chosen);
  }
  std::erase_if(found, [&](const Substitution& s) { return mentions_one_of(s, b.bound); });
  return found;
}

bool Matcher::covers(const Known& known, const Sum& value, const Conjunction& context) {
  bool outlines = known.value.products.size() == value.products.size();
  if (!outlines && !(thorough_ && known.bound.empty() && known.value.products.size() > 1))
    return false;
  if (!value.products.empty() &&
      std::none_of(known.value.products.begin(), known.value.products.end(),
                   [&](const Product& p) { return same_signature(p, value.products[0]); }))
    return false;
  if (known.bound.empty())
    return solver_.implies(context, known.guard) && same_argument(value, known.value, context);
  Atom all;
  all.bound = known.bound;
  all.guard = known.guard;
  all.argument = std::make_shared<Sum>(known.value);
  return takes_value(value, all, {}, context);
}

bool Matcher::same_argument(const Sum& a, const Sum& b, const Conjunction& context) {
  int pairings = pairings_left_;  // the arguments' own products count for themselves
  bool lawful = std::exchange(lawful_, false);
  bool same = is_zero(difference(a, b), context);
  pairings_left_ = pairings;
  lawful_ = lawful;
  return same;
}

}  // namespace regraft::verify

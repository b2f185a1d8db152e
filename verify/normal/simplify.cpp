#include "verify/normal/simplify.h"

#include <algorithm>
#include <set>

#include "verify/normal/sums.h"

namespace regraft::verify {
namespace {

/// Calls body(poly) for the polynomials of p outside the arguments of functions.
template <class Body>
void for_each_poly(const Formula& f, Body&& body) {
  body(f.poly);
  for (const auto& part : f.parts) for_each_poly(part, body);
}
template <class Body>
void for_each_poly(const Product& p, Body&& body) {
  for (const auto& g : p.guard) for_each_poly(g, body);
  for (const auto& a : p.atoms)
    for (const auto& e : a.positions) body(e);
}

bool linear_in(const Poly& p, Var v) {
  return std::any_of(p.terms().begin(), p.terms().end(),
                     [&](auto& t) { return t.monomial.size() == 1 && t.monomial[0] == v; });
}

/// A value for v that the guard leaves no choice about: v == e, or e <= v <= e.
std::optional<Poly> pinned(const Conjunction& guard, Var v) {
  Poly e;
  for (const auto& g : guard)
    if (g.kind == Formula::Zero && solve_for(g.poly, v, e)) return e;
  std::vector<size_t> bounds;
  for (size_t i = 0; i < guard.size(); ++i)
    if (guard[i].kind == Formula::NonNegative && linear_in(guard[i].poly, v)) bounds.push_back(i);
  for (size_t i : bounds)
    for (size_t j : bounds)
      if (j < i && (guard[i].poly + guard[j].poly).is_zero() && solve_for(guard[i].poly, v, e))
        return e;
  return std::nullopt;
}

/// Substitutes pinned variables of the product.
void pin_all(Product& p) {
  for (size_t b = 0; b < p.bound.size();) {
    Var v = p.bound[b];
    if (auto e = pinned(p.guard, v)) {
      p.bound.erase(p.bound.begin() + static_cast<std::ptrdiff_t>(b));
      p = substitute(std::move(p), {{v, *e}});
      b = 0;
    } else {
      ++b;
    }
  }
}
/// Of positions that the guard leaves no choice about, what the factors read; the guard stays.
void pin_positions(Product& p, const Conjunction& context) {
  for (const auto& g : p.guard)
    for (const auto& [m, c] : g.poly.terms()) {
      Var v = m[0];
      if (m.size() != 1 || v->kind != SymbolKind::Position) continue;
      auto e = pinned(context, v);
      if (!e || !e->is_constant()) continue;
      for (auto& a : p.atoms) a = substitute(std::move(a), {{v, *e}});
    }
}
/// The same for the variables of a maximum.
void pin_all(Atom& a) {
  for (size_t b = 0; b < a.bound.size();) {
    Var v = a.bound[b];
    if (auto e = pinned(a.guard, v)) {
      a.bound.erase(a.bound.begin() + static_cast<std::ptrdiff_t>(b));
      a = substitute(std::move(a), {{v, *e}});
      b = 0;
    } else {
      ++b;
    }
  }
  if (a.kind == Atom::Max) a.head = static_cast<int>(a.bound.size());
}

bool one_term(const Poly& p) { return p.constant() == 0 && p.terms().size() == 1; }
bool one_symbol(const Poly& p) {
  return one_term(p) && p.terms()[0].coefficient == 1 && p.terms()[0].monomial.size() == 1;
}
Atom integer_atom(Atom::Kind kind, Poly p) {
  Atom a;
  a.kind = kind;
  a.positions = {std::move(p)};
  return a;
}

/// 1/(c*s*t) as 1/c * 1/s * 1/t, and numbers as coefficients.
void tidy_reciprocals(Product& p) {
  std::vector<Atom> atoms;
  for (auto& a : p.atoms) {
    bool constant =
        a.kind == Atom::Recip && a.positions[0].is_constant() && !a.positions[0].is_zero();
    if (constant) {
      p.coefficient = p.coefficient * Rational::make(1, a.positions[0].constant());
    } else if (a.kind == Atom::Recip && one_term(a.positions[0])) {
      const auto& [m, c] = a.positions[0].terms()[0];
      p.coefficient = p.coefficient * Rational::make(1, c);
      for (Var v : m) atoms.push_back(integer_atom(Atom::Recip, Poly::symbol(v)));
    } else {
      atoms.push_back(std::move(a));
    }
  }
  p.atoms = std::move(atoms);
}

/// A product with the integer e = c + c1*m1 + ... as a factor, as a sum over the terms of e.
Sum times_integer(const Product& p, const Poly& e) {
  Sum s;
  if (e.constant() != 0) {
    s.products.push_back(p);
    s.products.back().coefficient = p.coefficient * Rational::make(e.constant(), 1);
  }
  for (const auto& [m, c] : e.terms()) {
    Product q = p;
    q.coefficient = q.coefficient * Rational::make(c, 1);
    for (Var v : m) q.atoms.push_back(integer_atom(Atom::Number, Poly::symbol(v)));
    s.products.push_back(std::move(q));
  }
  return s;
}

/// Expands the first Number that is not one symbol.
std::optional<Sum> expand_number(const Product& p) {
  for (size_t k = 0; k < p.atoms.size(); ++k) {
    if (p.atoms[k].kind != Atom::Number || one_symbol(p.atoms[k].positions[0])) continue;
    Product rest = p;
    rest.atoms.erase(rest.atoms.begin() + static_cast<std::ptrdiff_t>(k));
    return times_integer(rest, p.atoms[k].positions[0]);
  }
  return std::nullopt;
}

bool read_by_atoms(const Product& p, Var v) {
  return std::any_of(p.atoms.begin(), p.atoms.end(), [&](const Atom& a) {
    auto says = [&](const auto& x) { return mentions(x, v); };
    return std::any_of(a.positions.begin(), a.positions.end(), says) ||
           std::any_of(a.guard.begin(), a.guard.end(), says) ||
           (a.argument && mentions(*a.argument, v));
  });
}

/// p / d when d divides p.
std::optional<Poly> exactly(const Poly& p, const Poly& d, SymbolPool& pool) {
  Poly q = pool.floordiv(p, d);
  if (same(q * d, p)) return q;
  return std::nullopt;
}

/// With 0 <= w < d: d*a + w >= 0 says a >= 0, and d*b - w - 1 >= 0 says b >= 1.
Formula without_remainder(const Formula& f, Var w, const Poly& d) {
  if (f.kind != Formula::NonNegative || !mentions(f, w)) return f;
  Poly x = Poly::symbol(w);
  if (auto a = exactly(f.poly - x, d, *w->pool); a && !mentions(*a, w)) return non_negative(*a);
  if (auto b = exactly(f.poly + x + Poly(1), d, *w->pool); b && !mentions(*b, w))
    return Poly(1) <= *b;
  return f;
}

/// p with 0 for a quotient that its context makes 0. Where the guard itself may have been the
/// reason, the reason stays.
Product without_quotient(Product p, Var q) {
  bool reason =
      std::any_of(p.guard.begin(), p.guard.end(), [&](auto& g) { return mentions(g, q); });
  Formula range = Poly(0) <= *q->numerator && *q->numerator < *q->denominator;
  p = substitute(std::move(p), {{q, Poly(0)}});
  if (reason) add(p.guard, range);
  return p;
}

bool atom_order(const Atom& a, const Atom& b) {
  return std::tuple(a.kind, a.head, a.positions.size()) <
         std::tuple(b.kind, b.head, b.positions.size());
}

}  // namespace

std::optional<ConstantRange> constant_range(const Conjunction& guard, Var v) {
  std::optional<int64_t> low, high;
  for (const auto& g : guard) {
    if (g.kind != Formula::NonNegative) continue;
    if (Poly d = g.poly - Poly::symbol(v); d.is_constant())
      low = std::max(low.value_or(-d.constant()), -d.constant());
    if (Poly d = g.poly + Poly::symbol(v); d.is_constant())
      high = std::min(high.value_or(d.constant()), d.constant());
  }
  if (!low || !high) return std::nullopt;
  return ConstantRange{*low, *high};
}

Conjunction both(Conjunction a, const Conjunction& b) {
  for (const auto& f : b) add(a, f);
  return a;
}

Sum Simplifier::normal_form(const Sum& sum, const Conjunction& domain) {
  return simplify_all(sum, domain);
}

Sum Simplifier::simplify_all(const Sum& sum, const Conjunction& domain) {
  Sum r;
  for (const auto& p : sum.products) {
    Sum part = simplify(p, domain);
    std::move(part.products.begin(), part.products.end(), std::back_inserter(r.products));
  }
  return r;
}

/// A loop over at most 8 numbers as that many products.
std::optional<Sum> Simplifier::unroll(const Product& p) {
  for (size_t b = 0; b < p.bound.size(); ++b) {
    Var v = p.bound[b];
    auto range = constant_range(p.guard, v);
    if (!range || range->high - range->low >= 8) continue;
    ++unrolled_;
    Product rest = p;
    rest.bound.erase(rest.bound.begin() + static_cast<std::ptrdiff_t>(b));
    Sum s;
    for (int64_t k = range->low; k <= range->high; ++k)
      s.products.push_back(substitute(rest, {{v, Poly(k)}}));
    return s;
  }
  return std::nullopt;
}

/// A floor(n / d) with 0 <= n < d in the context; innermost first, or nullptr.
Var Simplifier::small_quotient(const Product& p, const Conjunction& context) {
  std::vector<Var> found;
  std::set<Var, SymbolLess> seen;
  auto visit = [&](auto& self, const Poly& e) -> void {
    for (const auto& [m, c] : e.terms())
      for (Var v : m)
        if (v->kind == SymbolKind::Quotient && seen.insert(v).second) {
          self(self, *v->numerator);
          found.push_back(v);
        }
  };
  for_each_poly(p, [&](const Poly& e) { visit(visit, e); });
  for (Var v : found)
    if (solver_.implies(context, Poly(0) <= *v->numerator && *v->numerator < *v->denominator,
                        products_))
      return v;
  return nullptr;
}

/// s * 1/s is 1 where s is not 0.
bool Simplifier::cancel(Product& p, const Conjunction& context) {
  for (size_t i = 0; i < p.atoms.size(); ++i)
    for (size_t j = 0; j < p.atoms.size(); ++j) {
      const Atom &n = p.atoms[i], &r = p.atoms[j];
      if (n.kind != Atom::Number || r.kind != Atom::Recip) continue;
      if (!same(n.positions[0], r.positions[0])) continue;
      if (!solver_.implies(context, Poly(1) <= n.positions[0])) continue;
      p.atoms.erase(p.atoms.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
      p.atoms.erase(p.atoms.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
      return true;
    }
  return false;
}

/// A loop over k with floor(k / d) in it becomes two loops: k = d*u + w with 0 <= w < d.
bool Simplifier::split_loop(Product& p, const Conjunction& context) {
  Var loop = nullptr;
  Poly d;
  for_each_poly(p, [&](const Poly& e) {
    for (const auto& [m, c] : e.terms())
      for (Var q : m) {
        if (loop || q->kind != SymbolKind::Quotient || !one_symbol(*q->numerator)) continue;
        Var k = q->numerator->terms()[0].monomial[0];
        if (std::find(p.bound.begin(), p.bound.end(), k) == p.bound.end()) continue;
        if (!q->denominator->is_constant() && !one_term(*q->denominator)) continue;
        if (mentions_any(is_zero(*q->denominator), p.bound)) continue;
        loop = k;
        d = *q->denominator;
      }
  });
  if (!loop || !solver_.implies(context, Poly(1) <= d)) return false;
  Var u = loop->pool->fresh(loop->name, SymbolKind::Bound);
  Var w = loop->pool->fresh(loop->name, SymbolKind::Bound);
  std::erase(p.bound, loop);
  p = substitute(std::move(p), {{loop, d * Poly::symbol(u) + Poly::symbol(w)}});
  Conjunction guard;
  for (const auto& g : p.guard) add(guard, without_remainder(g, w, d));
  add(guard, Poly(0) <= Poly::symbol(w) && Poly::symbol(w) < d);
  p.guard = std::move(guard);
  p.bound.push_back(u);
  p.bound.push_back(w);
  return true;
}

/// The number of values of v, when its literals leave exactly an interval (they are then removed).
std::optional<Poly> Simplifier::loop_length(Product& p, Var v, const Conjunction& domain) {
  for (size_t i = 0; i < p.guard.size();) {  // literals that the others imply
    Conjunction others = domain;
    for (size_t j = 0; j < p.guard.size(); ++j)
      if (j != i) add(others, p.guard[j]);
    if (mentions(p.guard[i], v) && solver_.implies(others, p.guard[i], products_))
      p.guard.erase(p.guard.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
  Conjunction rest;
  std::optional<Poly> low, high;  // v >= low, v <= high
  for (const auto& g : p.guard) {
    Poly e;
    if (!mentions(g, v)) {
      rest.push_back(g);
    } else if (g.kind != Formula::NonNegative || !solve_for(g.poly, v, e)) {
      return std::nullopt;
    } else {
      bool lower = same(g.poly, Poly::symbol(v) - e);
      if (lower ? low.has_value() : high.has_value()) return std::nullopt;
      (lower ? low : high) = e;
    }
  }
  if (!low || !high) return std::nullopt;
  Poly length = *high - *low + Poly(1);
  if (!solver_.implies(both(domain, rest), Poly(0) <= length)) return std::nullopt;
  p.guard = std::move(rest);
  return length;
}

/// A loop whose variable nothing reads is a factor: its length.
bool Simplifier::count_loop(Product& p, const Conjunction& domain) {
  for (size_t b = 0; b < p.bound.size(); ++b) {
    Var v = p.bound[b];
    if (read_by_atoms(p, v)) continue;
    auto length = loop_length(p, v, domain);
    if (!length) continue;
    p.bound.erase(p.bound.begin() + static_cast<std::ptrdiff_t>(b));
    auto inverse = std::find_if(p.atoms.begin(), p.atoms.end(), [&](const Atom& a) {
      return a.kind == Atom::Recip && same(a.positions[0], *length);
    });
    if (inverse != p.atoms.end() && solver_.implies(both(domain, p.guard), Poly(1) <= *length))
      p.atoms.erase(inverse);
    else
      p.atoms.push_back(integer_atom(Atom::Number, *length));
    return true;
  }
  return false;
}

/// A guard inside a function's argument that is about outer symbols only and still open.
std::optional<Formula> Simplifier::foreign_literal(const Atom& a, const Conjunction& context,
                                                   std::vector<Var> inner) {
  if (!a.argument) return std::nullopt;
  inner.insert(inner.end(), a.bound.begin(), a.bound.end());
  for (const auto& p : a.argument->products) {
    std::vector<Var> in = inner;
    in.insert(in.end(), p.bound.begin(), p.bound.end());
    for (const auto& g : p.guard)
      if (!mentions_any(g, in) && !solver_.decides(context, g, products_)) return g;
    for (const auto& b : p.atoms)
      if (auto g = foreign_literal(b, context, in)) return g;
  }
  return std::nullopt;
}

/// The argument of a function in normal form, without the literals that the context implies.
Sum Simplifier::simplify_argument(const Atom& a, const Conjunction& context) {
  const Conjunction within = both(context, a.guard);
  Sum s = simplify_all(*a.argument, within);
  for (auto& x : s.products) {
    Conjunction keep;
    for (const auto& f : x.guard)
      if (mentions_any(f, x.bound) || !solver_.implies(within, f, products_)) add(keep, f);

    x.guard = std::move(keep);
  }
  return s;
}

/// Simplifies atom k in place; or returns the product as a sum when the atom dissolves.
std::optional<Sum> Simplifier::simplify_atom(Product& p, size_t k, const Conjunction& context) {
  Atom& a = p.atoms[k];
  if (a.kind == Atom::Max) pin_all(a);
  Sum argument = simplify_argument(a, context);
  auto without = [&] {
    Product rest = p;
    rest.atoms.erase(rest.atoms.begin() + static_cast<std::ptrdiff_t>(k));
    return rest;
  };
  if (a.kind == Atom::Max && a.bound.empty() && solver_.implies(context, a.guard))
    return single(without()) * rename_bound(argument);  // the maximum of one value
  if (a.kind == Atom::Apply) {
    auto fn = static_cast<Fn>(a.head);
    if (argument.products.empty() && facts(fn).zero_at_zero) return Sum{};
    if (argument.products.size() == 1 && bare(argument.products[0])) {
      const Product& x = argument.products[0];
      bool plain = x.atoms.size() == 1 && x.coefficient == Rational{1, 1};
      if (plain && facts(fn).idempotent && x.atoms[0].kind == Atom::Apply &&
          x.atoms[0].head == a.head)
        return single(without()) * rename_bound(argument);
      if (x.atoms.empty() && fn == Fn::Relu && x.coefficient.n >= 0)
        return single(without()) * rename_bound(argument);
    }
  }
  if (laws_) argument = laws_->merged(std::move(argument), both(context, a.guard));
  bool nothing = argument.products.empty() && a.kind == Atom::Apply;
  if (nothing && facts(static_cast<Fn>(a.head)).zero_at_zero) return Sum{};
  a.argument = std::make_shared<Sum>(std::move(argument));
  if (laws_)
    if (auto value = laws_->rewritten(a, context)) return single(without()) * rename_bound(*value);
  return std::nullopt;
}

Sum Simplifier::simplify(Product p, const Conjunction& domain) {
  budget_.step();
  if (p.coefficient.n == 0) return {};
  struct Nesting {  // counts the recursion, also when an exception ends it
    int& depth;
    explicit Nesting(int& d) : depth(d) { ++depth; }
    ~Nesting() { --depth; }
  } nesting(depth_);
  if (depth_ > 200) throw OutOfBudget{"nesting too deep"};
  pin_all(p);
  if (loops_ == SmallLoops::Unroll)
    if (auto s = unroll(p)) return simplify_all(*s, domain);
  if (plainly_false(p.guard)) return {};
  Conjunction context = both(domain, p.guard);
  if (solver_.refuted(context, products_)) return {};
  pin_positions(p, context);
  if (Var q = small_quotient(p, context))
    return simplify(without_quotient(std::move(p), q), domain);
  tidy_reciprocals(p);
  if (auto s = expand_number(p)) return simplify_all(*s, domain);
  if (cancel(p, context) || split_loop(p, context) || count_loop(p, domain))
    return simplify(std::move(p), domain);
  for (size_t k = 0; k < p.atoms.size(); ++k) {
    if (!p.atoms[k].argument) continue;
    if (auto g = foreign_literal(p.atoms[k], context, {}); g && budget_.split()) {
      Product other = p;
      add(p.guard, *g);
      add(other.guard, negate(*g));
      Sum yes = simplify(std::move(p), domain);
      return std::move(yes) + simplify(std::move(other), domain);
    }
    if (auto s = simplify_atom(p, k, context)) return simplify_all(*s, domain);
  }
  if (laws_)
    if (auto s = laws_->combined(p, domain)) return simplify_all(*s, domain);
  std::stable_sort(p.atoms.begin(), p.atoms.end(), atom_order);
  return single(std::move(p));
}

}  // namespace regraft::verify

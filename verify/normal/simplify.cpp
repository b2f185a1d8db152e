#include "verify/normal/simplify.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "verify/normal/laws.h"
#include "verify/normal/ranges.h"
#include "verify/normal/sums.h"

namespace regraft::verify {
namespace {

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

/// Substitutes pinned variables of a product or of a maximum.
template <class T>
T with_pinned(T x) {
  for (size_t b = 0; b < x.bound.size();) {
    Var v = x.bound[b];
    if (auto e = pinned(x.guard, v)) {
      drop(x.bound, b);
      x = substitute(std::move(x), {{v, *e}});
      b = 0;
    } else {
      ++b;
    }
  }
  return x;
}
/// Of positions that the guard leaves no choice about, what the factors read; the guard stays.
void pin_positions(Product& p, const Context& context) {
  for (const auto& g : p.guard)
    for (const auto& [m, c] : g.poly.terms()) {
      Var v = m[0];
      if (m.size() != 1 || v->kind != SymbolKind::Position) continue;
      auto e = pinned(context.domain(), v);
      if (!e || !e->is_constant()) continue;
      for (auto& a : p.atoms) a = substitute(std::move(a), {{v, *e}});
    }
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

/// Numbers that no rational of ours is as ones between 1 and 2: the power of two and the sign go to
/// the coefficient.
void tidy_numbers(Product& p) {
  constexpr int kMostExponent = 30;
  for (Atom& a : p.atoms) {
    if (a.kind != Atom::Opaque || a.reals[0].symbol) continue;
    double& number = a.reals[0].value;
    int exponent = 0;
    double mantissa = 2 * std::frexp(number, &exponent);
    if (!std::isnormal(number) || std::abs(--exponent) > kMostExponent) continue;
    int64_t power = int64_t{1} << std::abs(exponent);
    p.coefficient =
        p.coefficient * (exponent < 0 ? Rational::make(1, power) : Rational::make(power, 1));
    if (mantissa < 0) p.coefficient = p.coefficient * Rational::make(-1, 1);
    number = std::abs(mantissa);
  }
  std::erase_if(p.atoms, [](const Atom& a) {
    return a.kind == Atom::Opaque && !a.reals[0].symbol && a.reals[0].value == 1;
  });
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
    return times_integer(without_atom(p, k), p.atoms[k].positions[0]);
  }
  return std::nullopt;
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

/// A floor(n / d) with 0 <= n < d in the context; innermost first, or nullptr.
Var small_quotient(const Product& p, const Context& context) {
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
    if (context.implies(Poly(0) <= *v->numerator && *v->numerator < *v->denominator,
                        context.products))
      return v;
  return nullptr;
}

/// s * 1/s is 1 where s is not 0.
bool cancel(Product& p, const Context& context) {
  for (size_t i = 0; i < p.atoms.size(); ++i)
    for (size_t j = 0; j < p.atoms.size(); ++j) {
      const Atom &n = p.atoms[i], &r = p.atoms[j];
      if (n.kind != Atom::Number || r.kind != Atom::Recip) continue;
      if (!same(n.positions[0], r.positions[0])) continue;
      if (!context.implies(Poly(1) <= n.positions[0])) continue;
      p = without_atoms(std::move(p), i, j);
      return true;
    }
  return false;
}

/// A guard inside a function's argument that is about outer symbols only and still open.
std::optional<Formula> foreign_literal(const Atom& a, const Context& context,
                                       std::vector<Var> inner) {
  if (!a.argument) return std::nullopt;
  inner.insert(inner.end(), a.bound.begin(), a.bound.end());
  for (const auto& p : a.argument->products) {
    std::vector<Var> in = inner;
    in.insert(in.end(), p.bound.begin(), p.bound.end());
    for (const auto& g : p.guard)
      if (!mentions_any(g, in) && !context.decides(g, context.products)) return g;
    for (const auto& b : p.atoms)
      if (auto g = foreign_literal(b, context, in)) return g;
  }
  return std::nullopt;
}

/// The argument of a function in normal form, without the literals that the context implies.
Sum simplify_argument(const Atom& a, const Context& context) {
  const Context within = context.where(a.guard);
  Sum s = normal_form(*a.argument, within);
  for (auto& x : s.products) {
    Conjunction keep;
    for (const auto& f : x.guard)
      if (mentions_any(f, x.bound) || !within.implies(f, context.products)) add(keep, f);
    x.guard = std::move(keep);
  }
  return s;
}

/// Simplifies atom k in place; or returns the product as a sum when the atom dissolves.
std::optional<Sum> simplify_atom(Product& p, size_t k, const Context& context) {
  Atom& a = p.atoms[k];
  if (a.kind == Atom::Max) {
    a = with_pinned(std::move(a));
    a.head = static_cast<int>(a.bound.size());
  }
  Sum argument = simplify_argument(a, context);
  auto with = [&](const Sum& value) { return single(without_atom(p, k)) * rename_bound(value); };
  if (a.kind == Atom::Max && a.bound.empty() && context.implies(a.guard))
    return with(argument);  // the maximum of one value
  if (a.kind == Atom::Apply) {
    auto fn = static_cast<Fn>(a.head);
    if (argument.products.empty() && facts(fn).zero_at_zero) return Sum{};
    if (argument.products.size() == 1 && bare(argument.products[0])) {
      const Product& x = argument.products[0];
      bool plain = x.atoms.size() == 1 && x.coefficient == Rational{1, 1};
      if (plain && facts(fn).idempotent && x.atoms[0].kind == Atom::Apply &&
          x.atoms[0].head == a.head)
        return with(argument);
      if (x.atoms.empty() && fn == Fn::Relu && x.coefficient.n >= 0) return with(argument);
    }
  }
  bool lawful = context.laws != Laws::None;
  if (lawful) argument = merged(std::move(argument), context.where(a.guard));
  bool nothing = argument.products.empty() && a.kind == Atom::Apply;
  if (nothing && facts(static_cast<Fn>(a.head)).zero_at_zero) return Sum{};
  a.argument = std::make_shared<Sum>(std::move(argument));
  if (lawful)
    if (auto value = rewritten(a, context)) return with(*value);
  return std::nullopt;
}

Sum simplify(Product p, const Context& around) {
  around.budget().step();
  if (p.coefficient.n == 0) return {};
  Context outer = around;
  if (++outer.depth.products > 200) throw OutOfBudget{"nesting too deep"};
  p = with_pinned(std::move(p));
  if (outer.loops == SmallLoops::Unroll)
    if (auto s = unrolled(p)) return normal_form(*s, outer);
  if (plainly_false(p.guard)) return {};
  const Context context = outer.where(p.guard);
  if (context.refuted(context.products)) return {};
  pin_positions(p, context);
  if (Var q = small_quotient(p, context)) return simplify(without_quotient(std::move(p), q), outer);
  tidy_reciprocals(p);
  tidy_numbers(p);
  if (auto s = expand_number(p)) return normal_form(*s, outer);
  if (cancel(p, context) || split_loop(p, context) || count_loop(p, outer))
    return simplify(std::move(p), outer);
  for (size_t k = 0; k < p.atoms.size(); ++k) {
    if (!p.atoms[k].argument) continue;
    if (auto g = foreign_literal(p.atoms[k], context, {}); g && context.budget().split()) {
      Product other = p;
      add(p.guard, *g);
      add(other.guard, negate(*g));
      Sum yes = simplify(std::move(p), outer);
      return std::move(yes) + simplify(std::move(other), outer);
    }
    if (auto s = simplify_atom(p, k, context)) return normal_form(*s, outer);
  }
  if (context.laws != Laws::None)
    if (auto s = combined(p, outer)) return normal_form(*s, outer);
  std::stable_sort(p.atoms.begin(), p.atoms.end(), atom_order);
  return single(std::move(p));
}

}  // namespace

Sum normal_form(const Sum& sum, const Context& context) {
  Sum r;
  for (const auto& p : sum.products) {
    Sum part = simplify(p, context);
    std::move(part.products.begin(), part.products.end(), std::back_inserter(r.products));
  }
  return r;
}

}  // namespace regraft::verify

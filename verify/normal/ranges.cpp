#include "verify/normal/ranges.h"

#include <algorithm>
#include <set>

#include "verify/normal/sums.h"

namespace regraft::verify {
namespace {

/// The bound variables that literals of c mention, in the order in which they were made.
std::vector<Var> bound_symbols(const Conjunction& c) {
  std::set<Var, SymbolLess> found;
  for (const auto& f : c)
    for (const auto& [m, k] : f.poly.terms())
      for (Var v : m)
        if (v->kind == SymbolKind::Bound) found.insert(v);
  return {found.begin(), found.end()};
}

/// p / d when d divides p.
std::optional<Poly> exactly(const Poly& p, const Poly& d, SymbolPool& pool) {
  if (d.is_constant() && d.constant() < 1) return std::nullopt;
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

/// The number of values of v, when its literals leave exactly an interval (they are then removed).
std::optional<Poly> loop_length(Product& p, Var v, const Context& outer) {
  for (size_t i = 0; i < p.guard.size();) {  // literals that the others imply
    Conjunction others = outer.domain();
    for (size_t j = 0; j < p.guard.size(); ++j)
      if (j != i) add(others, p.guard[j]);
    if (mentions(p.guard[i], v) && outer.solver().implies(others, p.guard[i], outer.products))
      drop(p.guard, i);
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
  if (!outer.where(rest).implies(Poly(0) <= length)) return std::nullopt;
  p.guard = std::move(rest);
  return length;
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

bool not_empty(const std::vector<Var>& bound, const Conjunction& guard, const Context& context) {
  if (bound.empty() && guard.empty()) return true;
  std::vector<Var> own = bound, others = bound_symbols(context.domain());
  for (int turn = 0; turn < 2; ++turn, std::reverse(own.begin(), own.end()))
    for (size_t from = 0; from + own.size() <= others.size() && !own.empty(); ++from) {
      Substitution same;  // an element of the same range that the context speaks of
      for (size_t i = 0; i < own.size(); ++i) same[own[i]] = Poly::symbol(others[from + i]);
      Conjunction there = substitute(guard, same);
      if (std::all_of(there.begin(), there.end(),
                      [&](const Formula& f) { return plainly_implies(context.domain(), f); }))
        return true;
    }
  Substitution first;
  for (Var v : bound) first[v] = Poly(0);
  return context.implies(substitute(guard, first), Products::Opaque);
}

/// Its first or, of one variable, where a cut begins.
bool has_element(const Atom& a, const Context& context) {
  if (not_empty(a.bound, a.guard, context)) return true;
  if (a.bound.size() != 1) return false;
  for (const auto& g : a.guard) {
    Poly e;
    if (g.kind != Formula::NonNegative || !solve_for(g.poly, a.bound[0], e)) continue;
    if (context.implies(substitute(a.guard, {{a.bound[0], e}}), Products::Opaque)) return true;
  }
  return false;
}

std::optional<Sum> unrolled(const Product& p) {
  for (size_t b = 0; b < p.bound.size(); ++b) {
    Var v = p.bound[b];
    auto range = constant_range(p.guard, v);
    if (!range || range->high - range->low >= 8) continue;
    Product rest = p;
    drop(rest.bound, b);
    Sum s;
    for (int64_t k = range->low; k <= range->high; ++k)
      s.products.push_back(substitute(rest, {{v, Poly(k)}}));
    return s;
  }
  return std::nullopt;
}

bool split_loop(Product& p, const Context& context) {
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
  if (!loop || !context.implies(Poly(1) <= d)) return false;
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

bool count_loop(Product& p, const Context& outer) {
  for (size_t b = 0; b < p.bound.size(); ++b) {
    Var v = p.bound[b];
    auto reads = [&](const Atom& a) { return mentions(a, v); };
    if (std::any_of(p.atoms.begin(), p.atoms.end(), reads)) continue;
    auto length = loop_length(p, v, outer);
    if (!length) continue;
    drop(p.bound, b);
    auto inverse = std::find_if(p.atoms.begin(), p.atoms.end(), [&](const Atom& a) {
      return a.kind == Atom::Recip && same(a.positions[0], *length);
    });
    if (inverse != p.atoms.end() && outer.where(p.guard).implies(Poly(1) <= *length))
      p.atoms.erase(inverse);
    else
      p.atoms.push_back(integer_atom(Atom::Number, *length));
    return true;
  }
  return false;
}

}  // namespace regraft::verify

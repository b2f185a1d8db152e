#include "ir/algebra/symbolic.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace regraft {

Atom substitute(Atom a, const Substitution& s) {
  for (auto& p : a.positions) p = substitute(p, s);
  if (a.argument) a.argument = std::make_shared<Sum>(substitute(*a.argument, s));
  a.guard = substitute(a.guard, s);
  return a;
}

Product substitute(Product p, const Substitution& s) {
  p.guard = substitute(p.guard, s);
  for (auto& a : p.atoms) a = substitute(std::move(a), s);
  return p;
}

Sum substitute(const Sum& sum, const Substitution& s) {
  Sum r;
  for (const auto& p : sum.products) r.products.push_back(substitute(p, s));
  return r;
}

bool mentions(const Sum& sum, Var v) {
  auto in_guard = [&](const Conjunction& c) {
    return std::any_of(c.begin(), c.end(), [&](auto& f) { return mentions(f, v); });
  };
  for (const auto& p : sum.products) {
    if (in_guard(p.guard)) return true;
    for (const auto& a : p.atoms) {
      for (const auto& e : a.positions)
        if (mentions(e, v)) return true;
      if (in_guard(a.guard) || (a.argument && mentions(*a.argument, v))) return true;
    }
  }
  return false;
}

Sum rename_bound(Sum sum) {
  for (auto& p : sum.products) {
    Substitution rename;
    for (Var& v : p.bound) {
      Var w = v->pool->fresh(v->name, SymbolKind::Bound);
      rename[v] = Poly::symbol(w);
      v = w;
    }
    if (!rename.empty()) p = substitute(std::move(p), rename);
  }
  return sum;
}

Sum operator+(Sum a, const Sum& b) {
  a.products.insert(a.products.end(), b.products.begin(), b.products.end());
  return a;
}

Sum operator*(const Sum& a, const Sum& b) {
  Sum r;
  for (const auto& p : a.products)
    for (auto q : b.products) {
      Substitution rename;  // x * x shares its bound variables
      for (Var& v : q.bound)
        if (std::find(p.bound.begin(), p.bound.end(), v) != p.bound.end()) {
          Var w = v->pool->fresh(v->name, SymbolKind::Bound);
          rename[v] = Poly::symbol(w);
          v = w;
        }
      if (!rename.empty()) q = substitute(std::move(q), rename);
      q.coefficient = q.coefficient * p.coefficient;
      q.bound.insert(q.bound.end(), p.bound.begin(), p.bound.end());
      for (const auto& g : p.guard) add(q.guard, g);
      q.atoms.insert(q.atoms.end(), p.atoms.begin(), p.atoms.end());
      if (!plainly_false(q.guard)) r.products.push_back(std::move(q));
    }
  return r;
}

namespace {

std::string to_string(const Atom& a) {
  static const char* kNames[] = {"t", "recip", "number", "", "clip", "max", "real"};
  std::string s = a.kind == Atom::Apply  ? std::string(facts(static_cast<Fn>(a.head)).name)
                  : a.kind == Atom::Read ? "t" + std::to_string(a.head)
                                         : kNames[a.kind];
  s += "[";
  for (const auto& p : a.positions) s += to_string(p) + ",";
  for (const auto& x : a.reals) s += x.symbol ? x.symbol->name : std::to_string(x.value);
  if (a.argument) s += to_string(*a.argument);
  return s + "]";
}

/// The atom that x is; nullptr when x is anything else.
const Atom* only_atom(const Sum& x) {
  if (x.products.size() != 1) return nullptr;
  const Product& p = x.products[0];
  bool bare = p.bound.empty() && p.guard.empty() && p.coefficient == Rational{1, 1};
  return bare && p.atoms.size() == 1 ? &p.atoms[0] : nullptr;
}
/// Clipping to these bounds gives nothing below 0.
bool not_negative(const std::vector<Real>& bounds) {
  return !bounds[0].symbol && !bounds[1].symbol && bounds[0].value >= 0 &&
         bounds[1].value >= bounds[0].value;
}

}  // namespace

std::string to_string(const Sum& sum) {
  std::string s;
  for (const auto& p : sum.products) {
    s += " + " + std::to_string(p.coefficient.n) + "/" + std::to_string(p.coefficient.d) + " sum{";
    for (Var v : p.bound) s += v->name + " ";
    s += "|";
    for (const auto& g : p.guard) s += " " + to_string(g) + ";";
    s += "}";
    for (const auto& a : p.atoms) s += " " + to_string(a);
  }
  return s;
}

Scope Symbolic::scope() const {
  Scope s;
  for (const Inner* i = innermost_; i; i = i->outer) {
    s.bound.insert(s.bound.begin(), i->bound.begin(), i->bound.end());
    for (const Formula& g : i->guard) add(s.guard, g);
  }
  return s;
}

Sum Symbolic::of_atom(Atom a) {
  Product p;
  p.atoms.push_back(std::move(a));
  return {{std::move(p)}};
}

void Symbolic::guard_all(Sum& s, const Formula& g) {
  for (auto it = s.products.begin(); it != s.products.end();) {
    add(it->guard, g);
    it = plainly_false(it->guard) ? s.products.erase(it) : it + 1;
  }
}

void Symbolic::bind(Sum& s, Var k, const Poly& n) {
  guard_all(s, Poly(0) <= Poly::symbol(k));
  guard_all(s, Poly::symbol(k) < n);
  for (auto& p : s.products) p.bound.push_back(k);
}

Atom Symbolic::max_atom(std::span<const Poly> extents, Indices<Poly>& k) {
  Atom m;
  m.kind = Atom::Max;
  m.head = static_cast<int>(extents.size());
  for (const Poly& e : extents) {
    Var v = pool.fresh("m", SymbolKind::Bound);
    m.bound.push_back(v);
    k.push_back(Poly::symbol(v));
    add(m.guard, Poly(0) <= Poly::symbol(v));
    add(m.guard, Poly::symbol(v) < e);
  }
  return m;
}

Poly Symbolic::floordiv(const Poly& a, const Poly& b) {
  Formula positive = Poly(1) <= b;
  require(positive);
  if (positive.kind == Formula::False) return Poly(0);
  return pool.floordiv(a, b);
}

Sum Symbolic::constant(int64_t n, int64_t d) {
  if (n == 0) return {};
  Product p;
  p.coefficient = Rational::make(n, d);
  return {{std::move(p)}};
}

Sum Symbolic::real(Real r) {
  double scaled = r.value * 1024;
  if (!r.symbol && scaled == std::floor(scaled) && std::abs(scaled) < 1e9)
    return constant(static_cast<int64_t>(scaled), 1024);
  Atom a;
  a.kind = Atom::Opaque;
  a.reals = {r};
  return of_atom(std::move(a));
}

Sum Symbolic::recip(const Poly& n) {
  if (n.is_constant() && n.constant() != 0) return constant(1, n.constant());
  Atom a;
  a.kind = Atom::Recip;
  a.positions = {n};
  return of_atom(std::move(a));
}

Sum Symbolic::to_scalar(const Poly& n) {
  Sum s = constant(n.constant());
  for (const auto& term : n.terms()) {
    Sum product = constant(term.coefficient);
    for (Var v : term.monomial) {
      Atom a;
      a.kind = Atom::Number;
      a.positions = {Poly::symbol(v)};
      product = product * of_atom(std::move(a));
    }
    s = s + product;
  }
  return s;
}

Sum Symbolic::element(int tensor, std::span<const Poly> i) {
  Atom a;
  a.head = tensor;
  a.positions.assign(i.begin(), i.end());
  return of_atom(std::move(a));
}

Sum Symbolic::apply(Fn f, Sum x) {
  on_apply(f, x);
  if (x.products.empty() && facts(f).zero_at_zero) return {};
  if (const Atom* inner = only_atom(x)) {
    if (facts(f).idempotent && inner->kind == Atom::Apply && inner->head == static_cast<int>(f))
      return x;
    if (f == Fn::Relu && inner->kind == Atom::Clip && not_negative(inner->reals)) return x;
  }
  if (x.products.size() == 1) {
    const Product& p = x.products[0];
    bool bare = p.bound.empty() && p.guard.empty();
    if (bare && p.atoms.empty() && p.coefficient == Rational{1, 1} && facts(f).one_at_one) return x;
    if (bare && p.atoms.empty() && f == Fn::Relu)
      return constant(std::max<int64_t>(p.coefficient.n, 0), p.coefficient.d);
    if (bare && p.atoms.empty() && f == Fn::Recip)
      return constant(p.coefficient.d, p.coefficient.n);
    if (auto n = integer_value(f, p.coefficient); bare && p.atoms.empty() && n) return constant(*n);
  }
  Atom a;
  a.kind = Atom::Apply;
  a.head = static_cast<int>(f);
  a.argument = std::make_shared<Sum>(rename_bound(std::move(x)));
  return of_atom(std::move(a));
}

Sum Symbolic::clip(Sum x, Real low, Real high) {
  bool from_zero = !low.symbol && low.value >= 0;
  if (const Atom* inner = only_atom(x);
      from_zero && inner && inner->kind == Atom::Apply && inner->head == static_cast<int>(Fn::Relu))
    x = Sum(*inner->argument);
  Atom a;
  a.kind = Atom::Clip;
  a.reals = {low, high};
  a.argument = std::make_shared<Sum>(rename_bound(std::move(x)));
  return of_atom(std::move(a));
}

Sum Symbolic::larger(const Sum& a, const Sum& b) {
  return b + apply(Fn::Relu, a + constant(-1) * b);
}

Sum Symbolic::mixed(const Sum& c, const Sum& a, const Sum& b) {
  return b + c * (a + constant(-1) * b);
}

Poly Symbolic::lookup(const std::vector<Poly>& table, const Poly& i, const Poly& bound) {
  bool at_number =
      i.is_constant() && i.constant() >= 0 && i.constant() < static_cast<int64_t>(table.size());
  if (at_number) {
    const Poly& value = table[static_cast<size_t>(i.constant())];
    require(Poly(0) <= value && value < bound);
    return value;
  }
  for (const Poly& p : table) require(Poly(0) <= p && p < bound);
  return pool.lookup(pool.table(table), i, bound);
}

}  // namespace regraft

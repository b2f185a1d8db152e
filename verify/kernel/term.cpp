#include "verify/kernel/term.h"

#include <algorithm>
#include <numeric>

namespace regraft::kernel {
namespace {

void check_scope(const Symbols& symbols, const std::vector<Symbol>& bound, const Values& values) {
  for (Symbol s : bound)
    for (const auto& [v, e] : values)
      if (v == s || symbols.mentions(e, s)) throw Refused{"an index is bound twice"};
}

bool bound_in(const std::vector<Symbol>& bound, Symbol s) {
  return std::find(bound.begin(), bound.end(), s) != bound.end();
}

bool mentions_one(const Symbols& symbols, const Poly& p, const Values& values) {
  return std::any_of(values.begin(), values.end(),
                     [&](const auto& v) { return symbols.mentions(p, v.first); });
}
bool mentions_one(const Symbols& symbols, const Fact& f, const Values& values) {
  return std::any_of(values.begin(), values.end(),
                     [&](const auto& v) { return mentions(symbols, f, v.first); });
}
Poly substitute(Symbols& symbols, const Poly& p, const Values& values) {
  return symbols.substitute(p, values);
}
/// Those that mention none of what is replaced stay as they are.
template <class T>
void substitute_each(Symbols& symbols, List<T>& all, const Values& values) {
  for (size_t k = 0; k < all.size(); ++k)
    if (mentions_one(symbols, all[k], values)) all.edit()[k] = substitute(symbols, all[k], values);
}

}  // namespace

Fraction Fraction::make(int64_t n, int64_t d) {
  if (d == 0 || n == INT64_MIN || d == INT64_MIN) throw Refused{"that is no fraction"};
  int64_t g = d < 0 ? -std::gcd(n, d) : std::gcd(n, d);
  return {n / g, d / g};
}
Fraction operator+(Fraction a, Fraction b) {
  int64_t n = checked_sum(checked_product(a.n, b.d), checked_product(b.n, a.d));
  return Fraction::make(n, checked_product(a.d, b.d));
}
Fraction operator*(Fraction a, Fraction b) {
  return Fraction::make(checked_product(a.n, b.n), checked_product(a.d, b.d));
}

bool same(const Atom& a, const Atom& b) {
  if (a.kind != b.kind || a.head != b.head || a.positions != b.positions || a.real != b.real ||
      a.bound != b.bound || a.guard != b.guard || !a.argument != !b.argument)
    return false;
  return a.argument == b.argument || same(*a.argument, *b.argument);
}

bool same(const Product& a, const Product& b) {
  return a.bound == b.bound && a.guard == b.guard &&
         (a.atoms.shares_with(b.atoms) ||
          std::equal(a.atoms.begin(), a.atoms.end(), b.atoms.begin(), b.atoms.end(),
                     [](const Atom& x, const Atom& y) { return same(x, y); }));
}

bool same(const Sum& a, const Sum& b, Fraction number) {
  if (number == Fraction{1, 1} && a.products.shares_with(b.products)) return true;
  return std::equal(a.products.begin(), a.products.end(), b.products.begin(), b.products.end(),
                    [&](const Product& p, const Product& q) {
                      return same(p, q) && p.coefficient == number * q.coefficient;
                    });
}

Atom substitute(Symbols& symbols, Atom a, const Values& values) {
  check_scope(symbols, a.bound, values);
  substitute_each(symbols, a.positions, values);
  substitute_each(symbols, a.guard, values);
  if (a.argument) a.argument = std::make_shared<Sum>(substitute(symbols, *a.argument, values));
  return a;
}

Product substitute_within(Symbols& symbols, Product p, const Values& values) {
  substitute_each(symbols, p.guard, values);
  for (Atom& a : p.atoms.edit()) a = substitute(symbols, std::move(a), values);
  return p;
}

Sum substitute(Symbols& symbols, Sum s, const Values& values) {
  for (Product& p : s.products.edit()) {
    check_scope(symbols, p.bound, values);
    p = substitute_within(symbols, std::move(p), values);
  }
  return s;
}

bool mentions(const Symbols& symbols, const Sum& sum, Symbol s) {
  return std::any_of(sum.products.begin(), sum.products.end(), [&](const Product& p) {
    return !bound_in(p.bound, s) && mentions_within(symbols, p, s);
  });
}

bool mentions_within(const Symbols& symbols, const Product& p, Symbol s) {
  auto in_facts = [&](const std::vector<Fact>& facts) {
    return std::any_of(facts.begin(), facts.end(),
                       [&](const Fact& f) { return mentions(symbols, f, s); });
  };
  return in_facts(p.guard) || std::any_of(p.atoms.begin(), p.atoms.end(), [&](const Atom& a) {
           bool there = std::any_of(a.positions.begin(), a.positions.end(),
                                    [&](const Poly& e) { return symbols.mentions(e, s); });
           if (there || bound_in(a.bound, s)) return there;
           return in_facts(a.guard) || (a.argument && mentions(symbols, *a.argument, s));
         });
}

std::vector<std::pair<Monomial, int64_t>> in_order(const Symbols& symbols, const Poly& p) {
  auto rank = [&](Symbol s) {
    Kind kind = symbols[s].kind;
    return std::pair(kind < Kind::Index ? 0 : kind == Kind::Index ? 1 : 2, s);
  };
  auto before = [&](Symbol a, Symbol b) { return rank(a) < rank(b); };
  std::vector<std::pair<Monomial, int64_t>> terms(p.terms().begin(), p.terms().end());
  for (auto& [m, c] : terms) std::sort(m.begin(), m.end(), before);
  std::sort(terms.begin(), terms.end(), [&](const auto& x, const auto& y) {
    return std::lexicographical_compare(x.first.begin(), x.first.end(), y.first.begin(),
                                        y.first.end(), before);
  });
  return terms;
}

std::optional<Symbol> symbol_of(const Poly& p) {
  if (p.terms().size() != 1 || p.terms().begin()->first.size() != 1) return std::nullopt;
  Symbol s = p.terms().begin()->first[0];
  return p == Poly::symbol(s) ? std::optional(s) : std::nullopt;
}

Sum sum_of(Atom a) {
  Product p;
  p.atoms.push_back(std::move(a));
  return {{std::move(p)}};
}

Sum number(Fraction c) {
  Product p;
  p.coefficient = c;
  return c.n == 0 ? Sum{} : Sum{{std::move(p)}};
}

Sum operator+(Sum a, const Sum& b) {
  a.products = joined(std::move(a.products), b.products);
  return a;
}

Sum scaled(Sum s, Fraction c) {
  for (Product& p : s.products.edit()) p.coefficient = p.coefficient * c;
  return s;
}

void append(List<Fact>& facts, const Fact& f) {
  if (f.form != Fact::All) {
    facts.push_back(f);
    return;
  }
  for (const Fact& part : f.parts) append(facts, part);
}

Sum times(const Symbols& symbols, const Sum& a, const Sum& b) {
  constexpr size_t kMost = 4'000;
  if (a.products.size() * b.products.size() > kMost) throw Refused{"a formula is too large"};
  auto check = [&](const Product& p, const Product& q) {
    for (Symbol s : p.bound)
      if (bound_in(q.bound, s) || mentions_within(symbols, q, s))
        throw Refused{"an index is bound twice"};
  };
  Sum r;
  for (const Product& p : a.products)
    for (const Product& q : b.products) {
      check(p, q);
      check(q, p);
      Product both = p;
      both.coefficient = p.coefficient * q.coefficient;
      both.bound = joined(std::move(both.bound), q.bound);
      both.guard = joined(std::move(both.guard), q.guard);
      both.atoms = joined(std::move(both.atoms), q.atoms);
      r.products.push_back(std::move(both));
    }
  return r;
}

namespace {

std::string scope_text(const Symbols& symbols, const std::vector<Symbol>& bound,
                       const std::vector<Fact>& guard) {
  std::string s;
  for (Symbol b : bound) s += " " + symbols[b].name;
  for (size_t k = 0; k < guard.size(); ++k) s += (k == 0 ? " : " : ", ") + text(symbols, guard[k]);
  return s;
}

std::string atom_text(const Symbols& symbols, const Atom& a) {
  static const char* const kNames[] = {"t", "recip", "number", "f", "largest", "real"};
  std::string s = kNames[a.kind];
  if (a.kind == Atom::Read || a.kind == Atom::Apply) s += std::to_string(a.head);
  s += "[";
  for (const Poly& p : a.positions) s += (s.back() == '[' ? "" : ",") + symbols.text(p);
  s += a.real + scope_text(symbols, a.bound, a.guard);
  if (a.argument) s += " " + text(symbols, *a.argument);
  return s + "]";
}

}  // namespace

std::string text(const Symbols& symbols, const Product& p) {
  std::string s = std::to_string(p.coefficient.n);
  if (p.coefficient.d != 1) s += "/" + std::to_string(p.coefficient.d);
  if (!p.bound.empty() || !p.guard.empty())
    s += " sum" + scope_text(symbols, p.bound, p.guard) + " :";
  for (const Atom& a : p.atoms) s += " " + atom_text(symbols, a);
  return s;
}

std::string text(const Symbols& symbols, const Sum& s) {
  std::string r;
  for (const Product& p : s.products) r += (r.empty() ? "(" : ") + (") + text(symbols, p);
  return r.empty() ? "0" : r + ")";
}

}  // namespace regraft::kernel

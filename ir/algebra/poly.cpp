#include "ir/algebra/poly.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "base/hash.h"

namespace regraft {
namespace {

int compare(const Monomial& a, const Monomial& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) return a[i]->id < b[i]->id ? -1 : 1;
  return 0;
}
Monomial merged(const Monomial& a, const Monomial& b) {
  Monomial r;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(r), SymbolLess{});
  return r;
}

}  // namespace

int64_t checked_product(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) throw PolyOverflow{};
  return r;
}
int64_t checked_sum(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r)) throw PolyOverflow{};
  return r;
}
Poly Poly::symbol(Var v) { return product({v}, 1); }

Poly Poly::product(Monomial monomial, int64_t coefficient) {
  if (monomial.empty()) return Poly(coefficient);
  Poly p;
  if (coefficient != 0)
    p.terms_ = std::make_shared<std::vector<Term>>(1, Term{std::move(monomial), coefficient});
  return p;
}

Poly Poly::linear(const Poly& a, int64_t ca, const Poly& b, int64_t cb) {
  Poly r(checked_sum(checked_product(ca, a.constant_), checked_product(cb, b.constant_)));
  auto x = a.terms(), y = b.terms();
  bool as_it_is = (y.empty() && ca == 1) || (x.empty() && cb == 1);
  if (as_it_is) r.terms_ = y.empty() ? a.terms_ : b.terms_;
  if (as_it_is || (x.empty() && y.empty())) return r;
  std::vector<Term> terms;
  terms.reserve(x.size() + y.size());
  size_t i = 0, j = 0;
  while (i < x.size() || j < y.size()) {
    int order = i == x.size() ? 1 : j == y.size() ? -1 : compare(x[i].monomial, y[j].monomial);
    int64_t c = 0;
    const Monomial& m = order <= 0 ? x[i].monomial : y[j].monomial;
    if (order <= 0) c = checked_product(ca, x[i++].coefficient);
    if (order >= 0) c = checked_sum(c, checked_product(cb, y[j++].coefficient));
    if (c != 0) terms.push_back({m, c});
  }
  if (!terms.empty()) r.terms_ = std::make_shared<const std::vector<Term>>(std::move(terms));
  return r;
}

Poly operator*(const Poly& a, const Poly& b) {
  if (a.is_constant()) return Poly::linear(b, a.constant_, Poly(0), 0);
  if (b.is_constant()) return Poly::linear(a, b.constant_, Poly(0), 0);
  Poly r = Poly::linear(b, a.constant_, Poly(0), 0);
  for (const auto& [m, c] : a.terms()) {
    Poly row = Poly::product(m, checked_product(c, b.constant_));
    for (const auto& [n, d] : b.terms())
      row = row + Poly::product(merged(m, n), checked_product(c, d));
    r = r + row;
  }
  return r;
}

int compare(const Poly& a, const Poly& b) {
  if (a.shares_terms(b))
    return a.constant() == b.constant() ? 0 : a.constant() < b.constant() ? -1 : 1;
  if (a.terms().size() != b.terms().size()) return a.terms().size() < b.terms().size() ? -1 : 1;
  for (size_t i = 0; i < a.terms().size(); ++i) {
    const auto &x = a.terms()[i], &y = b.terms()[i];
    if (int c = compare(x.monomial, y.monomial)) return c;
    if (x.coefficient != y.coefficient) return x.coefficient < y.coefficient ? -1 : 1;
  }
  return a.constant() == b.constant() ? 0 : a.constant() < b.constant() ? -1 : 1;
}

uint64_t hash(const Poly& p) {
  uint64_t h = mix(static_cast<uint64_t>(p.constant()));
  for (const auto& [m, c] : p.terms()) {
    for (Var v : m) h = combine(h, v->id);
    h = combine(h, static_cast<uint64_t>(c));
  }
  return h;
}

bool SymbolPool::Less::operator()(const std::pair<Poly, Poly>& a,
                                  const std::pair<Poly, Poly>& b) const {
  int c = compare(a.first, b.first);
  return c ? c < 0 : compare(a.second, b.second) < 0;
}

Var SymbolPool::add(std::string name, SymbolKind kind, int64_t min, const Poly* n, const Poly* d,
                    uint32_t table) {
  Symbol s{static_cast<uint32_t>(symbols_.size()),
           kind,
           std::move(name),
           min,
           nullptr,
           nullptr,
           table,
           this};
  if (n) s.numerator = std::make_unique<const Poly>(*n);
  if (d) s.denominator = std::make_unique<const Poly>(*d);
  symbols_.push_back(std::move(s));
  return &symbols_.back();
}

Var SymbolPool::fresh(std::string name, SymbolKind kind, int64_t min) {
  std::lock_guard lock(mutex_);
  return add(std::move(name), kind, min, nullptr, nullptr, 0);
}

Var SymbolPool::named(std::string_view name, int64_t min) {
  std::lock_guard lock(mutex_);
  auto it = names_.find(name);
  if (it != names_.end()) return it->second;
  Var v = add(std::string(name), SymbolKind::Size, min, nullptr, nullptr, 0);
  names_.emplace(std::string(name), v);
  return v;
}

namespace {

/// No positions and bound variables.
bool of_sizes(const Poly& p) {
  for (const auto& [m, c] : p.terms())
    for (Var v : m)
      if (v->numerator ? !of_sizes(*v->numerator) : v->kind != SymbolKind::Size) return false;
  return true;
}

/// A summand floor(N / D) of n, when it occurs once and with coefficient 1. Of sizes only:
/// positions are easier to compare where each quotient stands for itself.
Var quotient_term(const Poly& n) {
  if (!of_sizes(n)) return nullptr;
  for (const auto& [m, c] : n.terms())
    if (c == 1 && m.size() == 1 && m[0]->kind == SymbolKind::Quotient &&
        !mentions(n - Poly::symbol(m[0]), m[0]))
      return m[0];
  return nullptr;
}

}  // namespace

namespace {

bool divides(const Poly::Term& d, const Poly::Term& n) {
  return n.coefficient % d.coefficient == 0 &&
         std::includes(n.monomial.begin(), n.monomial.end(), d.monomial.begin(), d.monomial.end(),
                       SymbolLess{});
}

Poly ratio(const Poly::Term& n, const Poly::Term& d) {
  Monomial left;
  std::set_difference(n.monomial.begin(), n.monomial.end(), d.monomial.begin(), d.monomial.end(),
                      std::back_inserter(left), SymbolLess{});
  return Poly::product(std::move(left), n.coefficient / d.coefficient);
}

/// n / d, where that leaves no rest. REQUIRES: d is no number.
std::optional<Poly> exact_quotient(Poly n, const Poly& d) {
  constexpr int kMostTerms = 8;
  auto leading = [](const Poly& p) {
    return *std::ranges::max_element(p.terms(), [](const Poly::Term& a, const Poly::Term& b) {
      return compare(a.monomial, b.monomial) < 0;
    });
  };
  const Poly::Term by = leading(d);
  Poly quotient;
  for (int k = 0; k < kMostTerms && !n.is_zero(); ++k) {
    if (n.is_constant()) return std::nullopt;
    const Poly::Term first = leading(n);
    if (!divides(by, first)) return std::nullopt;
    Poly part = ratio(first, by);
    quotient = quotient + part;
    n = n - part * d;
  }
  return n.is_zero() ? std::optional(std::move(quotient)) : std::nullopt;
}

}  // namespace

int64_t content(const Poly& p) {
  int64_t g = 0;
  for (const auto& [m, c] : p.terms()) g = std::gcd(g, c);
  return g;
}

Poly divided(const Poly& p, int64_t g) {
  Poly r(floordiv(p.constant(), g));
  for (const auto& [m, c] : p.terms()) r = r + Poly::product(m, c / g);
  return r;
}

void SymbolPool::assume_non_negative(const Poly& p) {
  if (p.terms().size() != 1 || p.terms()[0].monomial.size() != 1) return;
  const auto& [monomial, c] = p.terms()[0];
  if (c < 0) return;
  Var v = monomial[0];
  int64_t least = -regraft::floordiv(p.constant(), c);  // c v + constant >= 0
  if (v->kind == SymbolKind::Quotient && v->denominator->is_constant())
    return assume_non_negative(*v->numerator -
                               Poly(checked_product(least, v->denominator->constant())));
  if (v->kind != SymbolKind::Size) return;
  std::lock_guard lock(mutex_);
  Symbol& symbol = symbols_[v->id];
  symbol.min = std::max(symbol.min, least);
}

Poly SymbolPool::floordiv(const Poly& n, const Poly& d) {
  // floor((floor(N / D) + r) / d) = floor((N + D r) / (D d))
  if (Var q = quotient_term(n)) {
    const Poly &inner = *q->numerator, &by = *q->denominator;
    return floordiv(inner + by * (n - Poly::symbol(q)), by * d);
  }
  // floor((g a + c) / (g b)) = floor((a + floor(c / g)) / b)
  int64_t g = d.is_constant() ? std::gcd(content(n), d.constant())
                              : std::gcd(content(n), std::gcd(content(d), d.constant()));
  if (g > 1 && !n.is_constant()) return floordiv(divided(n, g), divided(d, g));
  if (d.is_constant()) {
    CHECK(d.constant() >= 1);
    if (d.constant() == 1) return n;
    if (n.is_constant()) return Poly(regraft::floordiv(n.constant(), d.constant()));
  }
  Poly quotient, rest;
  bool one_term = d.is_constant() || (d.terms().size() == 1 && d.constant() == 0);
  if (one_term) {  // terms that the divisor divides leave exactly
    Monomial dm = d.is_constant() ? Monomial{} : d.terms()[0].monomial;
    int64_t dc = d.is_constant() ? d.constant() : d.terms()[0].coefficient;
    for (const auto& [m, c] : n.terms()) {
      if (c % dc == 0 && std::includes(m.begin(), m.end(), dm.begin(), dm.end(), SymbolLess{})) {
        Monomial left;
        std::set_difference(m.begin(), m.end(), dm.begin(), dm.end(), std::back_inserter(left),
                            SymbolLess{});
        quotient = quotient + Poly::product(left, c / dc);
      } else {
        rest = rest + Poly::product(m, c);
      }
    }
    rest = rest + Poly(n.constant());
    if (rest.is_zero()) return quotient;
    if (d.is_constant()) {
      int64_t q = regraft::floordiv(rest.constant(), dc);
      rest = rest - Poly(q * dc);
      quotient = quotient + Poly(q);
      if (rest.is_constant()) return quotient;
    }
  } else {
    if (auto exact = exact_quotient(n, d)) return *std::move(exact);
    rest = n;
  }
  if (d.is_constant() && of_sizes(rest) && !lower_bound(rest) && lower_bound(Poly(-1) * rest))
    // floor(-n / d) = -floor((n + d - 1) / d): quotients are of what is positive
    return quotient - floordiv(d - Poly(1) - rest, d);
  std::lock_guard lock(mutex_);
  auto [it, fresh] = quotients_.try_emplace({rest, d}, nullptr);
  if (fresh) it->second = add("q", SymbolKind::Quotient, 0, &rest, &d, 0);
  return quotient + Poly::symbol(it->second);
}

bool SymbolPool::TableLess::operator()(const std::vector<Poly>& a,
                                       const std::vector<Poly>& b) const {
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const Poly& x, const Poly& y) { return compare(x, y) < 0; });
}

uint32_t SymbolPool::table(const std::vector<Poly>& entries) {
  std::lock_guard lock(mutex_);
  auto [it, fresh] = tables_.try_emplace(entries, static_cast<uint32_t>(entries_.size()));
  if (fresh) entries_.push_back(&it->first);
  return it->second;
}

const std::vector<Poly>& SymbolPool::entries(uint32_t table) {
  std::lock_guard lock(mutex_);
  return *entries_.at(table);
}

/// By how much each entry is more than the one before it; nullopt: not always the same.
static std::optional<Poly> common_step(const std::vector<Poly>& entries) {
  if (entries.size() < 2) return std::nullopt;
  Poly step = entries[1] - entries[0];
  for (size_t k = 2; k < entries.size(); ++k)
    if (!same(entries[k] - entries[k - 1], step)) return std::nullopt;
  return step;
}

Poly SymbolPool::lookup(uint32_t table, const Poly& i, const Poly& bound) {
  std::lock_guard lock(mutex_);
  const std::vector<Poly>& entries = *entries_.at(table);
  if (i.is_constant() && i.constant() >= 0 && i.constant() < static_cast<int64_t>(entries.size()))
    return entries[static_cast<size_t>(i.constant())];
  if (auto step = common_step(entries)) return entries[0] + *step * i;
  auto [it, fresh] = lookups_.try_emplace({table, {i, bound}}, nullptr);
  if (fresh) it->second = add("t", SymbolKind::Lookup, 0, &i, &bound, table);
  return Poly::symbol(it->second);
}

bool mentions(const Poly& p, Var v) {
  for (const auto& term : p.terms())
    for (Var x : term.monomial)
      if (x == v || (x->numerator && (mentions(*x->numerator, v) || mentions(*x->denominator, v))))
        return true;
  return false;
}

Var symbol_of(const Poly& p) {
  auto terms = p.terms();
  bool alone = p.constant() == 0 && terms.size() == 1 && terms[0].coefficient == 1 &&
               terms[0].monomial.size() == 1;
  return alone ? terms[0].monomial[0] : nullptr;
}

Poly substitute(const Poly& p, const Substitution& s) {
  bool touched = false;
  for (const auto& [v, e] : s) touched = touched || mentions(p, v);
  if (!touched) return p;
  Poly r(p.constant());
  for (const auto& [m, c] : p.terms()) {
    Poly x(c);
    for (Var v : m) {
      if (auto it = s.find(v); it != s.end()) {
        x = x * it->second;
      } else if (v->numerator) {
        Poly n = substitute(*v->numerator, s), d = substitute(*v->denominator, s);
        if (v->kind == SymbolKind::Lookup)
          x = x * v->pool->lookup(v->table, n, d);
        else if (d.is_constant() && d.constant() < 1)
          x = Poly(0);  // outside every domain: denominators are required to be >= 1
        else
          x = x * v->pool->floordiv(n, d);
      } else {
        x = x * Poly::symbol(v);
      }
    }
    r = r + x;
  }
  return r;
}

namespace {

/// The entry that a lookup gives; 0 outside of the table, where nothing reads it.
int64_t entry_of(Var v, const Valuation& values) {
  const std::vector<Poly>& entries = v->pool->entries(v->table);
  int64_t at = evaluate(*v->numerator, values);
  bool inside = at >= 0 && at < static_cast<int64_t>(entries.size());
  return inside ? evaluate(entries[static_cast<size_t>(at)], values) : 0;
}

}  // namespace

int64_t evaluate(const Poly& p, const Valuation& values) {
  int64_t r = p.constant();
  for (const auto& [m, c] : p.terms()) {
    int64_t x = c;
    for (Var v : m) {
      int64_t value;
      if (v->kind == SymbolKind::Quotient) {
        value = floordiv(evaluate(*v->numerator, values),
                         std::max<int64_t>(1, evaluate(*v->denominator, values)));
      } else {
        auto it = values.find(v);
        bool known = it != values.end();
        CHECK(known || v->kind == SymbolKind::Lookup);
        value = known ? it->second : entry_of(v, values);
      }
      x = checked_product(x, value);
    }
    r = checked_sum(r, x);
  }
  return r;
}

bool solve_for(const Poly& p, Var v, Poly& solution) {
  int64_t c = 0;
  for (const auto& [m, k] : p.terms())
    if (m.size() == 1 && m[0] == v) c = k;
  if (c != 1 && c != -1) return false;
  Poly rest = p - Poly::product({v}, c);
  if (mentions(rest, v)) return false;
  solution = Poly(-c) * rest;
  return true;
}

namespace {

std::optional<int64_t> termwise_bound(const Poly& p);

int64_t least_value(Var v) {
  int64_t least = std::max<int64_t>(0, v->min);
  if (v->kind != SymbolKind::Quotient || !v->denominator->is_constant()) return least;
  auto numerator = termwise_bound(*v->numerator);
  return numerator ? std::max(least, floordiv(*numerator, v->denominator->constant())) : least;
}

/// From each symbol's least value; nullopt: a coefficient is below 0.
std::optional<int64_t> termwise_bound(const Poly& p) {
  int64_t bound = p.constant();
  for (const auto& [monomial, coefficient] : p.terms()) {
    if (coefficient < 0) return std::nullopt;
    int64_t least = coefficient;
    for (Var v : monomial) least = checked_product(least, least_value(v));
    bound = checked_sum(bound, least);
  }
  return bound;
}

bool has_quotient(const Poly::Term& term) {
  return term.monomial.size() == 1 && term.monomial[0]->kind == SymbolKind::Quotient;
}

/// Of c q + rest with q = floor(n / d): (n - d + 1) / d <= q <= n / d. `left`: how many quotients
/// may still be replaced.
std::optional<int64_t> bound_by_quotients(const Poly& p, int left) {
  auto best = termwise_bound(p);
  if (best || left == 0) return best;
  for (const Poly::Term& term : p.terms()) {
    const auto& [m, c] = term;
    if (!has_quotient(term) || !m[0]->denominator->is_constant()) continue;
    int64_t d = m[0]->denominator->constant();
    Poly rest = p - Poly::product(m, c);
    Poly n = c > 0 ? *m[0]->numerator - Poly(d - 1) : *m[0]->numerator;
    auto scaled = bound_by_quotients(Poly(d) * rest + Poly(c) * n, left - 1);
    if (scaled) best = std::max(best.value_or(INT64_MIN), -floordiv(-*scaled, d));
  }
  return best;
}

}  // namespace

std::optional<int64_t> lower_bound(const Poly& p) try {
  constexpr int kMaxReplaced = 3;
  auto bound = termwise_bound(p);
  if (bound || !std::ranges::any_of(p.terms(), has_quotient)) return bound;
  return bound_by_quotients(p, kMaxReplaced);
} catch (const PolyOverflow&) {
  return std::nullopt;
}

bool never_negative(const Poly& p) { return lower_bound(p).value_or(-1) >= 0; }

namespace {

bool computable(Var v) {
  if (v->kind == SymbolKind::Size) return v->pool->is_input(v);
  if (v->kind != SymbolKind::Quotient) return false;
  return never_negative(*v->numerator) && regraft::computable(*v->numerator) &&
         regraft::computable(*v->denominator);
}

}  // namespace

bool computable(const Poly& p) {
  return std::ranges::all_of(p.terms(), [](const Poly::Term& t) {
    return std::all_of(t.monomial.begin(), t.monomial.end(), [](Var v) { return computable(v); });
  });
}

std::string to_string(const Poly& p) {
  if (p.is_constant()) return std::to_string(p.constant());
  std::string s;
  for (const auto& [m, c] : p.terms()) {
    if (c >= 0 && !s.empty()) s += '+';
    if (c == -1) s += '-';
    bool shown = c == 1 || c == -1;
    if (!shown) s += std::to_string(c);
    for (size_t i = 0; i < m.size(); ++i) {
      if (i > 0 || !shown) s += '*';
      Var v = m[i];
      if (v->numerator)
        s += (v->kind == SymbolKind::Lookup ? "table(" : "floor(") + to_string(*v->numerator) +
             (v->kind == SymbolKind::Lookup ? "," : "/") + to_string(*v->denominator) + ")";
      else
        s += v->name;
    }
  }
  if (p.constant() > 0) s += '+';
  if (p.constant() != 0) s += std::to_string(p.constant());
  return s;
}

}  // namespace regraft

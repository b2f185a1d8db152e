#include "verify/certificates/rewriting.h"

#include <algorithm>
#include <numeric>

namespace regraft::verify {

using kernel::Fact;
using kernel::Kind;
using kernel::Monomial;
using kernel::Poly;
using kernel::Symbol;

namespace {

Poly product_of(const Monomial& m) {
  Poly p(1);
  for (Symbol s : m) p = p * Poly::symbol(s);
  return p;
}

/// (p - p with `value` for s) / (s - value).
Poly difference_quotient(const Poly& p, Symbol s, const Poly& value) {
  Poly q;
  for (const auto& [m, c] : p.terms()) {
    Monomial rest;
    std::copy_if(m.begin(), m.end(), std::back_inserter(rest), [&](Symbol x) { return x != s; });
    size_t power = m.size() - rest.size();
    Poly part = product_of(rest) * Poly(c), sum, left(1);
    for (size_t k = 0; k < power; ++k) {
      sum = sum * Poly::symbol(s) + left;
      left = left * value;
    }
    q = q + part * sum;
  }
  return q;
}

}  // namespace

bool Rewriting::mentions_replaced(const Ground& known, const Poly& p) const {
  return std::any_of(known.replaced.begin(), known.replaced.end(),
                     [&](const auto& r) { return steps_.symbols().mentions(p, r.first); });
}

std::optional<Symbol> Rewriting::touched(Ground& known, const Poly& p) const {
  for (const auto& [m, c] : p.terms())
    for (Symbol s : m) {
      if (known.replaced.count(s)) return s;
      const kernel::SymbolData data = steps_.symbols()[s];
      if (data.kind < Kind::Quotient) continue;
      auto changed_within = [&] {
        return mentions_replaced(known, data.first) || mentions_replaced(known, data.second);
      };
      if (!changed_within()) {
        if (in_simpler_words(known, s)) return s;
        for (const Poly& part : {data.first, data.second})
          touched(known, part);  // what stands within gets simpler words
      }
      if (changed_within() && replace_made(known, s)) return s;
    }
  return std::nullopt;
}

std::optional<Replacement> Rewriting::in_simpler_words(Ground& known, Symbol made) const {
  if (auto it = known.replaced.find(made); it != known.replaced.end()) return it->second;
  if (!known.tried.insert(made).second) return std::nullopt;
  const bool quotient = steps_.symbols()[made].kind == Kind::Quotient;
  auto found = quotient ? simpler(known, made) : entry(known, made);
  if (found) known.replaced[made] = *found;
  return found;
}

/// A quotient or a lookup whose parts changed.
bool Rewriting::replace_made(Ground& known, Symbol s) const {
  const kernel::SymbolData data = steps_.symbols()[s];
  Argument& argument = steps_.argument();
  Rewritten first = rewrite(known, data.first), second = rewrite(known, data.second);
  if (second.poly.is_constant() && second.poly.constant() < 1) return false;
  if (!first.equal && !second.equal) return false;
  bool quotient = data.kind == Kind::Quotient;
  Symbol made = quotient ? steps_.symbols().quotient(first.poly, second.poly)
                         : steps_.symbols().lookup(data.table, first.poly, second.poly);
  FactId one = argument.one();
  FactId same =
      argument.same(*known.at, s, made, first.equal.value_or(one), second.equal.value_or(one));
  Replacement r{Poly::symbol(made), same};
  if (auto better = in_simpler_words(known, made)) {
    r.value = better->value;
    r.equal = argument.lin(*known.at, {{1, {same}}, {1, {better->equal}}});
  }
  known.replaced[s] = r;
  return true;
}

Rewriting::Rewritten Rewriting::rewrite(Ground& known, const Poly& p) const {
  Argument& argument = steps_.argument();
  Poly now = p;
  std::vector<Summand> sum;
  while (auto s = touched(known, now)) {
    const Replacement r = known.replaced.at(*s);
    Poly q = difference_quotient(now, *s, r.value);
    FactId part = q.is_constant() ? r.equal : argument.times(*known.at, r.equal, q);
    sum.push_back({q.is_constant() ? q.constant() : 1, {part}});
    now = now - (Poly::symbol(*s) - r.value) * q;
  }
  if (sum.empty()) return {now, std::nullopt};
  if (sum.size() == 1 && sum[0].times == 1) return {now, sum[0].facts[0]};
  return {now, argument.lin(*known.at, sum)};
}

FactId Rewriting::rewrite(Ground& known, FactId literal) const {
  Rewritten r = rewrite(known, steps_.poly(literal));
  if (!r.equal) return literal;
  return steps_.argument().lin(*known.at, {{1, {literal}}, {-1, {*r.equal}}});
}

namespace {

/// n / d where that leaves no rest, for d of one term.
struct Division {
  Poly quotient, rest;
};
Division divide(const Poly& n, const Poly& d) {
  const auto& [dm, dc] = *d.terms().begin();
  Division r;
  for (const auto& [m, c] : n.terms()) {
    Monomial left;
    std::set_difference(m.begin(), m.end(), dm.begin(), dm.end(), std::back_inserter(left));
    if (c % dc == 0 && left.size() + dm.size() == m.size())
      r.quotient = r.quotient + product_of(left) * Poly(c / dc);
    else
      r.rest = r.rest + product_of(m) * Poly(c);
  }
  if (d.is_constant()) {
    int64_t k = r.rest.constant(), q = k / dc - (k % dc < 0 ? 1 : 0);
    r.quotient = r.quotient + Poly(q);
    r.rest = r.rest - Poly(q * dc);
  }
  return r;
}

/// n / d by the terms that come last, which must go away; nullopt: a rest is left.
std::optional<Poly> exact_quotient(Poly n, const Poly& d) {
  constexpr int kMostTerms = 8;
  const auto& [dm, dc] = *d.terms().rbegin();
  Poly quotient;
  for (int k = 0; k < kMostTerms && n != Poly(0); ++k) {
    const auto& [m, c] = *n.terms().rbegin();
    Monomial left;
    std::set_difference(m.begin(), m.end(), dm.begin(), dm.end(), std::back_inserter(left));
    if (c % dc != 0 || left.size() + dm.size() != m.size()) return std::nullopt;
    Poly part = product_of(left) * Poly(c / dc);
    quotient = quotient + part;
    n = n - part * d;
  }
  return n == Poly(0) ? std::optional(quotient) : std::nullopt;
}

/// Without a number that divides all of n but its constant, and all of d.
bool reduce(Poly& n, Poly& d) {
  int64_t g = 0;
  for (const auto& [m, c] : d.terms()) g = std::gcd(g, c);
  for (const auto& [m, c] : n.terms())
    if (!m.empty()) g = std::gcd(g, c);
  if (g < 2) return false;
  n = n.divided(g);
  d = d.divided(g);
  return true;
}

}  // namespace

/// What a quotient is, in simpler words: multiples of the denominator leave it, and quotients of
/// quotients are one.
std::optional<Replacement> Rewriting::simpler(Ground& known, Symbol made) const {
  Poly n = steps_.symbols()[made].first, d = steps_.symbols()[made].second;
  std::vector<FactId> inner;  // what the quotients are that take part
  std::vector<Poly> scales;   // denominators by which facts are multiplied
  Poly whole;
  bool changed = false;
  for (int round = 0; round < 6; ++round) {
    bool more = reduce(n, d);
    for (const auto& [m, c] : n.terms()) {
      if (m.size() != 1 || c != 1 || steps_.symbols()[m[0]].kind != Kind::Quotient) continue;
      const kernel::SymbolData q = steps_.symbols()[m[0]];
      auto defined = steps_.define(known, m[0]);
      if (!defined) continue;
      inner.push_back(*defined);
      scales.push_back(q.second);
      n = q.first + q.second * (n - Poly::symbol(m[0]));
      d = q.second * d;
      more = true;
      break;
    }
    if (d.terms().size() == 1) {
      Division by = divide(n, d);
      more = more || by.quotient != Poly(0);
      whole = whole + by.quotient;
      n = by.rest;
    } else if (auto exact = exact_quotient(n, d)) {
      whole = whole + *exact;
      n = Poly(0);
      more = true;
    }
    changed = changed || more;
    if (!more || n.is_constant()) break;
  }
  if (!changed) return std::nullopt;
  Poly value = whole;
  if (n != Poly(0)) {
    Symbol last = steps_.symbols().quotient(n, d);
    auto defined = steps_.define(known, last);
    if (!defined) return std::nullopt;
    inner.push_back(*defined);
    value = value + Poly::symbol(last);
  }
  auto defined = steps_.define(known, made);
  if (!defined) return std::nullopt;
  inner.push_back(*defined);
  std::vector<Product> multipliers, facts;
  scales.push_back(steps_.symbols()[made].second);
  scales.push_back(d);
  Poly all(1);
  for (const Poly& s : std::vector<Poly>(scales)) all = all * s;
  scales.push_back(all);
  for (const Poly& s : scales)
    if (!s.is_constant())
      if (auto f = steps_.plainly(known, s)) multipliers.push_back({*f});
  for (FactId f : inner)
    for (FactId both : {f, f + 1}) {
      facts.push_back({both});
      for (Product m : multipliers) {
        m.push_back(both);
        facts.push_back(std::move(m));
      }
    }
  auto equal = steps_.equal(known, Poly::symbol(made) - value, facts, multipliers);
  return equal ? std::optional(Replacement{value, *equal}) : std::nullopt;
}

std::optional<Replacement> Rewriting::entry(Ground& known, Symbol lookup) const {
  const kernel::SymbolData data = steps_.symbols()[lookup];
  const std::vector<Poly> entries = steps_.symbols().entries(data.table);
  if (!data.first.is_constant() || data.first.constant() < 0 ||
      data.first.constant() >= static_cast<int64_t>(entries.size()))
    return std::nullopt;
  auto number = static_cast<size_t>(data.first.constant());
  auto low = steps_.show(known, entries[number]);
  auto high = steps_.show(known, data.second - Poly(1) - entries[number]);
  if (!low || !high) return std::nullopt;
  Argument& argument = steps_.argument();
  FactId f = argument.entry(*known.at, lookup, number, {argument.one(), *low, *high});
  return Replacement{entries[number], f};
}

/// floor(n / d) >= e is n >= d e, and floor(n / d) <= e is n < d (e + 1).
FactId Rewriting::without_quotients(Ground& known, FactId literal) const {
  Argument& argument = steps_.argument();
  for (;;) {
    const Fact f = argument.fact(literal);
    FactId before = literal;
    for (const auto& [m, c] : f.poly.terms()) {
      bool alone = m.size() == 1 && (c == 1 || c == -1) && f.form == Fact::NonNegative &&
                   steps_.symbols()[m[0]].kind == Kind::Quotient;
      if (!alone) continue;
      Symbol q = m[0];
      if (steps_.symbols().mentions(f.poly - Poly(c) * Poly::symbol(q), q)) continue;
      const Poly d = steps_.symbols()[q].second;
      auto positive = steps_.plainly(known, d - Poly(1));
      if (!positive) continue;
      auto defined = steps_.define(known, q);
      if (!defined) continue;
      FactId bound = c == 1 ? *defined : *defined + 1;
      int64_t more = (d - steps_.poly(*positive)).constant();
      std::vector<Summand> sum{{1, {bound}}};
      if (!steps_.poly(*positive).is_constant()) sum.push_back({1, {literal, *positive}});
      int64_t times = steps_.poly(*positive).is_constant() ? d.constant() : more;
      sum.push_back({times, {literal}});
      literal = argument.lin(*known.at, sum);
      break;
    }
    if (before == literal) return literal;
  }
}

/// s g >= 0 is g >= 0, and s g = 0 is g = 0, for a size s from 1 on.
FactId Rewriting::without_factors(Ground& known, FactId literal) const {
  Argument& argument = steps_.argument();
  for (;;) {
    const Fact f = argument.fact(literal);
    std::optional<Symbol> shared;
    const Monomial first = f.poly.is_constant() ? Monomial{} : f.poly.terms().begin()->first;
    for (Symbol s : first) {
      bool all = steps_.symbols()[s].least.value_or(0) >= 1;
      for (const auto& [m, c] : f.poly.terms())
        all = all && std::find(m.begin(), m.end(), s) != m.end();
      if (all) shared = s;
    }
    if (!shared) return literal;
    Poly g;
    for (const auto& [m, c] : f.poly.terms()) {
      Monomial rest = m;
      rest.erase(std::find(rest.begin(), rest.end(), *shared));
      g = g + product_of(rest) * Poly(c);
    }
    if (g.is_constant()) return literal;
    FactId positive = steps_.least(known, *shared);
    auto found = f.form == Fact::Zero
                     ? steps_.equal(known, g, {{literal}, {positive}}, {{positive}})
                     : steps_.show_from(known, g, {{literal}, {positive}}, {{positive}});
    if (!found) return literal;
    literal = *found;
  }
}

void Rewriting::rewrite(Ground& known, std::vector<FactId>& literals) const {
  std::vector<FactId> kept;
  for (FactId f : literals) {
    if (known.at->closed) return;
    FactId now = without_quotients(known, rewrite(known, without_quotients(known, f)));
    if (!known.at->closed) now = without_factors(known, now);
    if (steps_.poly(now).is_constant() && !known.at->closed) continue;
    kept.push_back(now);
  }
  literals = std::move(kept);
}

/// g p = 0 is p = 0 for a number g.
FactId Rewriting::without_content(Ground& known, FactId equality) const {
  int64_t g = 0;
  for (const auto& [m, c] : steps_.poly(equality).terms()) g = std::gcd(g, c);
  if (g < 2) return equality;
  FactId above = steps_.argument().lin(*known.at, {{1, {equality}}}, g);
  FactId below = steps_.argument().lin(*known.at, {{-1, {equality}}}, g);
  return steps_.argument().both(*known.at, above, below);
}

bool Rewriting::use(Ground& known, FactId equality) const {
  equality = without_content(known, equality);
  const Poly p = steps_.poly(equality);
  for (const auto& [m, c] : p.terms()) {
    if (m.size() != 1 || (c != 1 && c != -1)) continue;
    Symbol s = m[0];
    const bool made = steps_.symbols()[s].kind >= Kind::Quotient;
    if (made && replace == Replace::Leaves) continue;
    Poly rest = p - Poly(c) * Poly::symbol(s);
    if (steps_.symbols().mentions(rest, s)) continue;
    Argument& argument = steps_.argument();
    FactId equal = c == 1 ? equality : argument.lin(*known.at, {{-1, {equality}}});
    if (steps_.symbols()[s].least) known.literals.push_back(steps_.least(known, s));
    if (made)
      if (auto defined = steps_.define(known, s))
        known.literals.insert(known.literals.end(), {*defined, *defined + 1});
    known.replaced[s] = {Poly(-c) * rest, equal};
    return true;
  }
  return use_ones(known, equality);
}

/// c s t ... = c for sizes s, t, ... from 1 on: each is 1.
bool Rewriting::use_ones(Ground& known, FactId equality) const {
  const Poly p = steps_.poly(equality);
  if (p.terms().size() != 2 || p.constant() == 0) return false;
  const auto [m, c] = *p.terms().rbegin();
  if (c != -p.constant()) return false;
  std::set<Symbol> sizes(m.begin(), m.end());
  for (Symbol s : sizes) {
    auto bound = steps_.bound_of(known, s);
    if (!bound || steps_.poly(*bound).constant() > -1) return false;
  }
  for (Symbol s : sizes) {
    Monomial others = m;
    others.erase(std::find(others.begin(), others.end(), s));
    auto rest = steps_.plainly(known, product_of(others) - Poly(1));
    if (!rest) return false;
    Product with{*rest};
    auto equal = steps_.equal(known, Poly::symbol(s) - Poly(1),
                              {{equality}, {*rest}, {*steps_.bound_of(known, s)}}, {with});
    if (!equal) return false;
    known.replaced[s] = {Poly(1), *equal};
  }
  return true;
}

bool Rewriting::use_equality(Ground& known) const {
  for (size_t k = 0; k < known.literals.size(); ++k) {
    FactId f = known.literals[k];
    if (steps_.argument().fact(f).form == Fact::Zero && use(known, f)) return true;
    if (steps_.argument().fact(f).form == Fact::Zero) continue;
    for (size_t j = 0; j < k; ++j) {
      FactId g = known.literals[j];
      if (steps_.argument().fact(g).form == Fact::Zero) continue;
      if (steps_.poly(f) + steps_.poly(g) != Poly(0)) continue;
      FactId equality = steps_.argument().both(*known.at, g, f);
      if (use(known, equality)) return true;
    }
  }
  return false;
}

void Rewriting::settle(Ground& known) const {
  constexpr int kMostReplaced = 40;
  rewrite(known, known.literals);
  for (int k = 0; k < kMostReplaced && !known.at->closed && use_equality(known); ++k) {
    std::vector<FactId> literals = known.literals;
    rewrite(known, literals);
    known.literals = std::move(literals);
  }
}

}  // namespace regraft::verify

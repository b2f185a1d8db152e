#include "gen/generalise/space.h"

#include <algorithm>

#include "base/check.h"
#include "ir/algebra/algebra.h"

namespace regraft::gen {
namespace {

constexpr int64_t kMaxExtent = 24;

/// p = factor * v + rest where the factor is a product, hence not 0; nullopt otherwise.
std::optional<std::pair<Poly, Poly>> linear_in(const Poly& p, Var v) {
  Poly factor, rest(p.constant());
  for (const auto& [monomial, coefficient] : p.terms()) {
    Monomial others = monomial;
    auto it = std::find(others.begin(), others.end(), v);
    bool has = it != others.end();
    if (has) others.erase(it);
    Poly part = Poly::product(std::move(others), coefficient);
    if (mentions(part, v)) return std::nullopt;
    Poly& sum = has ? factor : rest;
    sum = sum + part;
  }
  if (factor.terms().size() != 1 || factor.constant() != 0) return std::nullopt;
  return std::pair{factor, rest};
}

}  // namespace

SpaceSymbol extent_symbol(Var v, size_t rank, size_t axis) {
  return {v, static_cast<int>(rank * kMaxRank + axis), rank > 2 && axis < 2 ? 3 : 6};
}

Space::Space(const std::vector<SpaceSymbol>& symbols, const Conjunction& conditions,
             const Substitution& given)
    : symbols_(symbols) {
  for (size_t k = 0; k < symbols_.size(); ++k) {
    size_t id = symbols_[k].symbol->id;
    if (index_.size() <= id) index_.resize(id + 1, -1);
    index_[id] = static_cast<int>(k);
  }
  Conjunction rest = solve(conditions, given);
  for (const Formula& f : rest) conditions_.push_back(flat(f));
  empty_ = std::any_of(rest.begin(), rest.end(),
                       [](const Formula& f) { return f.kind == Formula::False; });
}

/// Defines what equations determine and returns the other conditions.
Conjunction Space::solve(const Conjunction& conditions, const Substitution& given) {
  Conjunction rest = substitute(conditions, given);
  Substitution solved;
  for (bool again = true; again;) {
    again = false;
    for (const Formula& f : rest) {
      if (f.kind != Formula::Zero) continue;
      Poly solution;
      Var found = nullptr;
      for (const auto& term : f.poly.terms()) {  // the last one: attributes before extents
        Poly x;
        if (term.monomial.size() != 1 || term.monomial[0]->numerator) continue;
        if (!solve_for(f.poly, term.monomial[0], x)) continue;
        found = term.monomial[0];
        solution = std::move(x);
      }
      if (!found) continue;
      for (auto& [known, value] : solved) value = substitute(value, {{found, solution}});
      solved[found] = solution;
      rest = substitute(rest, {{found, solution}});
      again = true;
      break;
    }
  }
  std::vector<char> known(symbols_.size(), 0);
  for (const auto& [v, value] : solved) known[static_cast<size_t>(index_of(v))] = 1;
  for (const auto& [v, value] : given) known[static_cast<size_t>(index_of(v))] = 1;
  solve_by_division(rest, known);
  for (size_t k = 0; k < known.size(); ++k)
    if (!known[k]) free_.push_back(static_cast<int>(k));
  for (const auto& [v, value] : solved) define(v, value, true);
  for (const auto& [v, value] : given) define(v, value, !value.is_constant());
  return rest;
}

/// Products that are equal: one factor is a quotient of numbers.
void Space::solve_by_division(const Conjunction& rest, std::vector<char>& known) {
  std::vector<char> used(symbols_.size(), 0);     // in an earlier division
  std::vector<char> divided(symbols_.size(), 0);  // defined by one
  for (const Formula& f : rest) {
    if (f.kind != Formula::Zero) continue;
    for (size_t k = symbols_.size(); k-- > 0;) {
      if (known[k] || used[k]) continue;
      auto parts = linear_in(f.poly, symbols_[k].symbol);
      if (!parts) continue;
      bool plain = true;
      for (size_t j = 0; j < symbols_.size(); ++j) {
        if (j == k || !mentions(f.poly, symbols_[j].symbol)) continue;
        plain = plain && (!known[j] || divided[j]);
        used[j] = 1;
      }
      if (!plain) continue;
      known[k] = divided[k] = 1;
      Definition d{static_cast<int>(k), flat(Poly(-1) * parts->second), flat(parts->first), true};
      definitions_.push_back(std::move(d));
      break;
    }
  }
}

void Space::define(Var v, const Poly& value, bool bounded) {
  definitions_.push_back({index_of(v), flat(value), std::nullopt, bounded});
}

int Space::index_of(Var v) const {
  CHECK(v->id < index_.size() && index_[v->id] >= 0);
  return index_[v->id];
}

Space::Flat Space::flat(const Poly& p) {
  Flat r{p.constant(), {}};
  for (const auto& [monomial, coefficient] : p.terms()) {
    std::vector<int> factors;
    for (Var v : monomial) {
      if (!v->numerator) {
        factors.push_back(index_of(v));
        continue;
      }
      CHECK(v->kind == SymbolKind::Quotient);
      std::pair<Flat, Flat> q{flat(*v->numerator), flat(*v->denominator)};
      quotients_.push_back(std::move(q));
      factors.push_back(-static_cast<int>(quotients_.size()));
    }
    r.terms.emplace_back(coefficient, std::move(factors));
  }
  return r;
}

Space::FlatFormula Space::flat(const Formula& f) {
  FlatFormula r{f.kind, flat(f.poly), {}};
  for (const Formula& part : f.parts) r.parts.push_back(flat(part));
  return r;
}

int64_t Space::evaluate(const Flat& p, const Point& x) const {
  int64_t sum = p.constant;
  for (const auto& [coefficient, factors] : p.terms) {
    int64_t product = coefficient;
    for (int k : factors) {
      if (k >= 0) {
        product *= x[static_cast<size_t>(k)];
        continue;
      }
      const auto& [n, d] = quotients_[static_cast<size_t>(-k - 1)];
      product *= floordiv(evaluate(n, x), std::max<int64_t>(1, evaluate(d, x)));
    }
    sum += product;
  }
  return sum;
}

bool Space::evaluate(const FlatFormula& f, const Point& x) const {
  auto holds = [&](const FlatFormula& part) { return evaluate(part, x); };
  switch (f.kind) {
    case Formula::True:
      return true;
    case Formula::False:
      return false;
    case Formula::NonNegative:
      return evaluate(f.poly, x) >= 0;
    case Formula::Zero:
      return evaluate(f.poly, x) == 0;
    case Formula::And:
      return std::all_of(f.parts.begin(), f.parts.end(), holds);
    case Formula::Or:
      return std::any_of(f.parts.begin(), f.parts.end(), holds);
  }
  return false;
}

bool Space::contains(const Point& p) const {
  for (const Definition& d : definitions_) {
    int64_t x = p[static_cast<size_t>(d.symbol)];
    if (evaluate(d.value, p) != (d.divisor ? x * evaluate(*d.divisor, p) : x)) return false;
  }
  return std::all_of(conditions_.begin(), conditions_.end(),
                     [&](const FlatFormula& f) { return evaluate(f, p); });
}

/// The divisor of a definition once its free factors are divisors of x near to what they were.
int64_t Space::adjusted_divisor(const Definition& d, int64_t x, Point& p) const {
  const auto& [coefficient, factors] = d.divisor->terms[0];
  if (coefficient == 0 || x % coefficient != 0) return 0;
  x /= coefficient;
  for (int k : factors) {
    if (k < 0 || !std::binary_search(free_.begin(), free_.end(), k)) continue;
    int64_t& value = p[static_cast<size_t>(k)];
    int64_t least = symbols_[static_cast<size_t>(k)].symbol->min;
    for (int64_t off = 0; off < value || value + off <= kMaxExtent; ++off) {
      bool above = value + off >= 1 && value + off <= kMaxExtent && x % (value + off) == 0;
      bool below = value - off >= std::max<int64_t>(1, least) && x % (value - off) == 0;
      if (!above && !below) continue;
      value += above ? off : -off;
      x /= value;
      break;
    }
  }
  return evaluate(*d.divisor, p);
}

/// Computes what is determined; false when that is impossible.
bool Space::determine(Point& p) const {
  for (const Definition& d : definitions_) {
    int64_t x = evaluate(d.value, p);
    if (d.divisor) {
      int64_t by = evaluate(*d.divisor, p);
      if (by != 0 && x % by != 0) by = adjusted_divisor(d, x, p);
      if (by == 0 || x % by != 0) return false;
      x /= by;
    }
    if (d.bounded && (x < symbols_[static_cast<size_t>(d.symbol)].symbol->min || x > kMaxExtent))
      return false;
    p[static_cast<size_t>(d.symbol)] = x;
  }
  return true;
}

/// A free symbol, best an extent, that occurs alone in a violated condition, and a value for it
/// that is closer to satisfying it; nullopt when there is none.
std::optional<std::pair<int, int64_t>> Space::repair(const Point& p) const {
  for (const FlatFormula& f : conditions_) {
    if (evaluate(f, p)) continue;
    if (f.kind != Formula::NonNegative && f.kind != Formula::Zero) return std::nullopt;
    int64_t value = evaluate(f.poly, p);
    int best = -1;
    int64_t coefficient = 0;
    for (const auto& [c, factors] : f.poly.terms) {
      if (factors.size() != 1 || !std::binary_search(free_.begin(), free_.end(), factors[0]))
        continue;
      bool usable = f.kind == Formula::Zero ? c == 1 || c == -1 : c > 0;
      bool extent = symbols_[static_cast<size_t>(factors[0])].axis >= 0;
      if (!usable || (best >= 0 && !extent)) continue;
      best = factors[0];
      coefficient = c;
    }
    if (best < 0) return std::nullopt;
    auto at = static_cast<size_t>(best);
    if (f.kind == Formula::NonNegative)
      return std::pair{best, p[at] + (coefficient - 1 - value) / coefficient};
    int64_t exact = p[at] - value * coefficient;  // a remainder goes
    return std::pair{best, exact < symbols_[at].symbol->min ? p[at] + value * coefficient : exact};
  }
  return std::nullopt;
}

std::optional<Point> Space::completed(Point p) const {
  constexpr int kRounds = 8;
  if (empty_) return std::nullopt;
  for (int round = 0; round < kRounds; ++round) {
    if (!determine(p)) return std::nullopt;
    bool holds = std::all_of(conditions_.begin(), conditions_.end(),
                             [&](const FlatFormula& f) { return evaluate(f, p); });
    if (holds) return p;
    auto repaired = repair(p);
    if (!repaired) return std::nullopt;
    auto k = static_cast<size_t>(repaired->first);
    p[k] = repaired->second;
    if (p[k] < symbols_[k].symbol->min || p[k] > kMaxExtent) return std::nullopt;
  }
  return std::nullopt;
}

int64_t Space::value_for(int symbol, Rng& rng) const {
  const SpaceSymbol& s = symbols_[static_cast<size_t>(symbol)];
  bool wide = s.axis < 0 || rng.below(3) == 0;
  return s.symbol->min + rng.between(0, wide ? s.spread : s.spread / 2);
}

std::optional<Point> Space::draw(Rng& rng, Extents extents, int attempts) const {
  for (int attempt = 0; attempt < attempts && !empty_; ++attempt) {
    Point p(symbols_.size(), 0);
    uint64_t round = rng.next();
    for (int k : free_) {
      int axis = symbols_[static_cast<size_t>(k)].axis;
      Rng shared(combine(round, static_cast<uint64_t>(axis)));
      bool alike = extents == Extents::Aligned && axis >= 0;
      p[static_cast<size_t>(k)] = value_for(k, alike ? shared : rng);
    }
    if (auto all = completed(std::move(p))) return all;
  }
  return std::nullopt;
}

std::optional<Point> Space::near(Rng& rng, const Point& base, const std::vector<int>& first,
                                 size_t more, Others others) const {
  std::vector<int> rest;
  Point p = base;
  for (int k : free_) {
    bool wanted = std::find(first.begin(), first.end(), k) != first.end();
    if (wanted)
      p[static_cast<size_t>(k)] = value_for(k, rng);
    else if (others == Others::All || symbols_[static_cast<size_t>(k)].axis >= 0)
      rest.push_back(k);
  }
  for (size_t k = rest.size(); k > 1; --k) std::swap(rest[k - 1], rest[rng.below(k)]);
  for (size_t k = 0; k < std::min(more, rest.size()); ++k)
    p[static_cast<size_t>(rest[k])] = value_for(rest[k], rng);
  return completed(std::move(p));
}

std::optional<Point> Space::with(const Point& base, int symbol, int64_t value) const {
  Point p = base;
  p[static_cast<size_t>(symbol)] = value;
  return completed(std::move(p));
}

}  // namespace regraft::gen

#include "verify/arithmetic/linear.h"

#include <algorithm>
#include <utility>

namespace regraft::verify {
namespace {

constexpr int kMaxCases = 120;
constexpr size_t kMaxProducts = 60;  // facts that with_products adds
constexpr size_t kMaxCompared = 4;   // factors of which it distinguishes the sign

/// Numbers the products of symbols that occur.
class Columns {
 public:
  uint32_t of(const Monomial& m) {
    auto it = std::find_if(all_.begin(), all_.end(), [&](const Monomial* x) {
      return std::equal(x->begin(), x->end(), m.begin(), m.end());
    });
    if (it != all_.end()) return static_cast<uint32_t>(it - all_.begin());
    all_.push_back(&m);
    return static_cast<uint32_t>(all_.size() - 1);
  }
  bool has(const Monomial& m) const {
    return std::any_of(all_.begin(), all_.end(), [&](const Monomial* x) {
      return std::equal(x->begin(), x->end(), m.begin(), m.end());
    });
  }
  void add(const Formula& f) {
    for (const auto& t : f.poly.terms()) of(t.monomial);
    for (const auto& part : f.parts) add(part);
  }
  const std::vector<const Monomial*>& all() const { return all_; }

 private:
  std::vector<const Monomial*> all_;
};

/// Tries the cases of disjunctions.
class Cases {
 public:
  explicit Cases(const Conjunction& facts) {
    for (const Formula& f : facts) columns_.add(f);
  }

  Decision run(const std::vector<const Formula*>& facts) {
    if (++cases_ > kMaxCases) return Decision::Open;
    Elimination rows;
    std::vector<const Formula*> literals;
    const Formula* open = nullptr;
    for (const Formula* f : facts) {
      if (f->kind == Formula::False) return Decision::Refuted;
      if (f->kind == Formula::Or) {
        if (!open || f->parts.size() < open->parts.size()) open = f;
      } else {
        add_rows(rows, *f);
      }
    }
    Decision plain = rows.run();
    if (!open || plain == Decision::Refuted) return plain;
    Decision result = Decision::Refuted;
    for (const Formula& part : open->parts) {
      std::vector<const Formula*> one;
      for (const Formula* f : facts)
        if (f != open) one.push_back(f);
      one.push_back(&part);
      Decision d = run(one);
      if (d == Decision::Satisfiable) return d;
      if (d == Decision::Open) result = d;
    }
    return result;
  }

 private:
  void add_row(Elimination& rows, const Poly& p, int sign) {
    Inequality row{{}, sign * p.constant()};
    for (const auto& [m, c] : p.terms()) row.c.push_back({columns_.of(m), sign * c});
    rows.add(row);
  }
  void add_rows(Elimination& rows, const Formula& f) {
    if (f.kind == Formula::And)
      for (const Formula& part : f.parts) add_rows(rows, part);
    if (f.kind == Formula::NonNegative || f.kind == Formula::Zero) add_row(rows, f.poly, 1);
    if (f.kind == Formula::Zero) add_row(rows, f.poly, -1);
  }

  Columns columns_;
  int cases_ = 0;
};

bool small_numbers(const Formula& f) {
  constexpr int64_t kSmall = int64_t{1} << 20;
  auto small = [](int64_t x) { return x < kSmall && x > -kSmall; };
  return small(f.poly.constant()) &&
         std::all_of(f.poly.terms().begin(), f.poly.terms().end(),
                     [&](auto& t) { return small(t.coefficient); }) &&
         std::all_of(f.parts.begin(), f.parts.end(), small_numbers);
}

}  // namespace

Decision decide_linear(const Conjunction& facts) {
  if (!std::all_of(facts.begin(), facts.end(), small_numbers)) return Decision::Open;
  std::vector<const Formula*> all;
  for (const Formula& f : facts) all.push_back(&f);
  return Cases(facts).run(all);
}

namespace {

bool has_factor(const Monomial& m, Var v) { return std::find(m.begin(), m.end(), v) != m.end(); }

Monomial without_factor(Monomial m, Var v) {
  m.erase(std::find(m.begin(), m.end(), v));
  return m;
}

/// Makes facts about the products that occur in a conjunction.
class ProductFacts {
 public:
  explicit ProductFacts(const Conjunction& facts) : facts_(facts), all_(facts) {
    for (const Formula& f : facts) columns_.add(f);
    for (const Monomial* m : columns_.all())
      for (size_t i = 0; m->size() > 1 && i < m->size(); ++i)
        add_multiplier(without_factor(*m, (*m)[i]));
  }

  Conjunction run() {
    for (const Formula& f : facts_) {
      bool literal = f.kind == Formula::NonNegative || f.kind == Formula::Zero;
      if (!literal) continue;
      for (const Poly& m : multipliers_) {
        if (all_.size() > facts_.size() + kMaxProducts) break;
        if (leads_elsewhere(f.poly, m.terms()[0].monomial)) continue;
        Poly p = f.poly * above_minimum(m);
        if (!occurs(p)) continue;
        add(all_, f.kind == Formula::Zero ? zero(p) : Poly(0) <= p);
      }
    }
    std::vector<Poly> factors = compared_factors();
    for (const Poly& g : factors) add(all_, by_sign(g));
    return std::move(all_);
  }

 private:
  /// A size less the least that it is; other products as they are.
  static Poly above_minimum(const Poly& m) {
    const Monomial& symbols = m.terms()[0].monomial;
    bool size = symbols.size() == 1 && symbols[0]->kind == SymbolKind::Size;
    return size ? m - Poly(symbols[0]->min) : m;
  }
  /// p == 0 with all its factors.
  static Formula zero(const Poly& p) { return Poly(0) <= p && p <= Poly(0); }
  /// Of products of what is not negative.
  void add_multiplier(const Monomial& m) {
    bool sign = std::all_of(m.begin(), m.end(), [&](Var v) {
      return plainly_implies(facts_, Poly(0) <= Poly::symbol(v));
    });
    Poly p = Poly::product(m, 1);
    bool known = std::any_of(multipliers_.begin(), multipliers_.end(),
                             [&](const Poly& x) { return same(x, p); });
    if (sign && !known) multipliers_.push_back(std::move(p));
  }
  /// A product of p's last term, which nothing cancels, does not occur: a look before all of p is
  /// multiplied.
  bool leads_elsewhere(const Poly& p, const Monomial& m) const {
    if (p.is_constant()) return false;
    Monomial both;
    const Monomial& last = p.terms().back().monomial;
    std::ranges::merge(last, m, std::back_inserter(both), SymbolLess{});
    return both.size() > 1 && !columns_.has(both);
  }
  bool occurs(const Poly& p) const {
    return std::all_of(p.terms().begin(), p.terms().end(),
                       [&](auto& t) { return t.monomial.size() < 2 || columns_.has(t.monomial); });
  }
  /// g of facts x * g + ..., whose sign may matter: those with quotients first.
  std::vector<Poly> compared_factors() const {
    std::vector<Poly> found;
    for (const Formula& f : facts_)
      for (const Poly& m : multipliers_) {
        Poly g;
        for (const auto& t : f.poly.terms()) {
          Monomial rest = t.monomial;
          bool divides = true;
          for (Var v : m.terms()[0].monomial) {
            divides = divides && has_factor(rest, v);
            if (divides) rest = without_factor(rest, v);
          }
          if (divides && !rest.empty()) g = g + Poly::product(std::move(rest), t.coefficient);
        }
        bool known = g.is_constant() || plainly_implies(facts_, Poly(1) <= g) ||
                     std::any_of(found.begin(), found.end(), [&](const Poly& x) {
                       return same(x, g) || same(x, Poly(-1) * g);
                     });
        if (!known) found.push_back(std::move(g));
      }
    std::stable_partition(found.begin(), found.end(), [](const Poly& g) {
      return std::any_of(g.terms().begin(), g.terms().end(), [](auto& t) {
        return std::any_of(t.monomial.begin(), t.monomial.end(),
                           [](Var v) { return v->kind == SymbolKind::Quotient; });
      });
    });
    if (found.size() > kMaxCompared) found.resize(kMaxCompared);
    return found;
  }
  /// g is at least 1, 0, or at most -1, and its products accordingly.
  Formula by_sign(const Poly& g) const {
    std::vector<Formula> above{Poly(1) <= g}, none{g == Poly(0)}, below{g <= Poly(-1)};
    for (const Poly& m : multipliers_) {
      Poly p = g * m;
      if (!occurs(p)) continue;
      above.push_back(m <= p);
      none.push_back(zero(p));
      below.push_back(p <= Poly(-1) * m);
    }
    return junction(Formula::And, above) || junction(Formula::And, none) ||
           junction(Formula::And, below);
  }

  const Conjunction& facts_;
  Conjunction all_;
  Columns columns_;
  std::vector<Poly> multipliers_;
};

}  // namespace

Conjunction with_products(const Conjunction& facts) { return ProductFacts(facts).run(); }

}  // namespace regraft::verify

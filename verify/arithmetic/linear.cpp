#include "verify/arithmetic/linear.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace regraft::verify {
namespace {

constexpr size_t kMaxRows = 160;
constexpr int kMaxCases = 120;
constexpr int64_t kLargest = int64_t{1} << 30;  // of a coefficient; more is given up
constexpr size_t kMaxProducts = 60;             // facts that with_products adds
constexpr size_t kMaxCompared = 4;              // factors of which it distinguishes the sign

enum class Numbers : uint8_t { Integers, Reals };

/// Numbers the products of symbols that occur.
class Columns {
 public:
  size_t of(const Monomial& m) {
    auto it = std::find_if(all_.begin(), all_.end(), [&](const Monomial* x) {
      return std::equal(x->begin(), x->end(), m.begin(), m.end());
    });
    if (it != all_.end()) return static_cast<size_t>(it - all_.begin());
    all_.push_back(&m);
    return all_.size() - 1;
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
  size_t size() const { return all_.size(); }
  const std::vector<const Monomial*>& all() const { return all_; }

 private:
  std::vector<const Monomial*> all_;
};

/// Inequalities, from which unknowns are eliminated one after the other. Coefficients lie in one
/// block: questions are many and small.
class Elimination {
 public:
  /// `trail`: where to write down how each row follows from those before; nullptr: nowhere.
  explicit Elimination(size_t columns, Numbers numbers = Numbers::Integers, Trail* trail = nullptr)
      : columns_(columns), numbers_(numbers), trail_(trail) {}

  /// A row of zeros, to be filled; valid until the next call.
  int32_t* add(int64_t k, bool strict = false, size_t origin = 0) {
    rows_.push_back({cells_.size(), k, origin, strict});
    cells_.resize(cells_.size() + columns_);
    return &cells_[rows_.back().at];
  }

  /// Where the trail has the row that ended a run with Refuted.
  size_t contradiction() const { return contradiction_; }

  Decision run() {
    while (!failed_) {
      if (!tidy()) return Decision::Refuted;
      if (rows_.empty()) return exact_ ? Decision::Satisfiable : Decision::Open;
      if (!use_equality()) eliminate_cheapest();
    }
    return Decision::Open;
  }

 private:
  struct Row {
    size_t at;  // its first coefficient in cells_
    int64_t k;
    size_t origin;
    bool strict;
    bool tight = false;  // divided and rounded already
    size_t lead = 0;     // columns before it are 0; of a tight row the first one that is not
  };
  int32_t* of(const Row& r) { return &cells_[r.at]; }
  const int32_t* of(const Row& r) const { return &cells_[r.at]; }
  std::span<int32_t> cells(const Row& r) { return {of(r), columns_}; }
  std::span<const int32_t> cells(const Row& r) const { return {of(r), columns_}; }

  /// Divided by the greatest common divisor, rounded as integers allow.
  void tighten(Row& r) {
    if (std::exchange(r.tight, true)) return;
    r.lead = static_cast<size_t>(std::ranges::find_if(cells(r), [](int32_t x) { return x != 0; }) -
                                 cells(r).begin());
    int64_t g = numbers_ == Numbers::Reals ? r.k : 0;
    for (int64_t x : cells(r)) {
      if (x != 0) g = std::gcd(g, x);
      if (g == 1) return;
    }
    if (g < 2) return;
    if (trail_) r.origin = trail_->add({r.origin, r.origin, 1, 0, g, r.k % g != 0});
    for (int32_t& x : cells(r)) x = static_cast<int32_t>(x / g);
    r.k = floordiv(r.k, g);
  }
  /// One row for each direction, the strongest; false: they contradict each other.
  bool tidy() {
    for (Row& r : rows_) tighten(r);
    std::sort(rows_.begin(), rows_.end(), [&](const Row& a, const Row& b) {
      auto order = compare(a, b);
      return order != 0 ? order < 0 : std::tie(a.k, b.strict) < std::tie(b.k, a.strict);
    });
    rows_.erase(std::unique(rows_.begin(), rows_.end(),
                            [&](const Row& a, const Row& b) { return compare(a, b) == 0; }),
                rows_.end());
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].lead < columns_) continue;
      contradiction_ = rows_[i].origin;
      if (rows_[i].k < 0 || (rows_[i].k == 0 && rows_[i].strict)) return false;
      rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(i));
      break;  // there is but one
    }
    if (rows_.size() > (trail_ ? 2 : 1) * kMaxRows) failed_ = true;
    return true;
  }
  /// Of the coefficients, `sign` times those of b.
  int compare(const Row& a, const Row& b, int sign = 1) const {
    const int32_t *x = of(a), *y = of(b);
    constexpr size_t kBlock = 16;
    size_t i = std::min(a.lead, b.lead);
    for (; i + kBlock <= columns_; i += kBlock) {
      uint32_t differ = 0;
      for (size_t k = i; k < i + kBlock; ++k)
        differ |= static_cast<uint32_t>(x[k]) - static_cast<uint32_t>(sign * y[k]);
      if (differ != 0) break;
    }
    for (; i < columns_; ++i)
      if (x[i] != sign * y[i]) return x[i] < sign * y[i] ? -1 : 1;
    return 0;
  }
  /// Rows are sorted.
  const Row* opposite(const Row& r) const {
    auto it = std::partition_point(rows_.begin(), rows_.end(),
                                   [&](const Row& x) { return compare(x, r, -1) < 0; });
    return it != rows_.end() && compare(*it, r, -1) == 0 ? &*it : nullptr;
  }
  /// x and -x are not negative: an unknown with coefficient 1 is replaced. Opposite rows that
  /// contradict each other leave a number below 0.
  bool use_equality() {
    for (const Row& r : rows_) {
      if (r.lead < columns_ && of(r)[r.lead] > 0) break;  // of two opposite rows the second
      const Row* x = opposite(r);
      if (!x || x->k + r.k > 0) continue;
      if (x->k + r.k < 0 || x->strict || r.strict) {
        size_t origin = trail_ ? trail_->add({x->origin, r.origin, 1, 1}) : 0;
        rows_.clear();
        add(-1, false, origin);
        return true;
      }
      auto unit = std::ranges::find_if(cells(r), [](int32_t c) { return c == 1 || c == -1; });
      if (unit == cells(r).end()) continue;
      replace(static_cast<size_t>(unit - cells(r).begin()), r, x->origin);
      return true;
    }
    return false;
  }
  /// Row r is 0, and has coefficient 1 or -1 at column v. `opposite`: the place of -r.
  void replace(size_t v, Row r, size_t opposite) {
    int32_t unit = of(r)[v];
    std::vector<int32_t> equality(cells(r).begin(), cells(r).end());  // r is among the rows
    for (Row& x : rows_) {
      if (of(x)[v] == 0) continue;
      int64_t times = -int64_t{of(x)[v]} * unit;
      size_t from = x.origin;
      x = combined(x, 1, of(x), r, times, equality.data(), x.at);
      if (trail_ && times < 0) x.origin = trail_->add({from, opposite, 1, -times});
    }
  }
  /// ca a + cb b, with its coefficients at `at`. x, y: the coefficients of a and b.
  Row combined(const Row& a, int64_t ca, const int32_t* x, const Row& b, int64_t cb,
               const int32_t* y, size_t at) {
    Row r{at, ca * a.k + cb * b.k, 0, a.strict || b.strict};
    int64_t large = std::abs(r.k);
    int32_t* to = &cells_[at];
    for (size_t i = 0; i < columns_; ++i) {
      int64_t c = ca * x[i] + cb * y[i];
      large = std::max(large, std::abs(c));
      to[i] = static_cast<int32_t>(c);
    }
    if (large > kLargest) failed_ = true;
    if (trail_ && cb >= 0) r.origin = trail_->add({a.origin, b.origin, ca, cb});
    return r;
  }
  struct Uses {
    size_t below = 0, above = 0;  // rows with a positive and with a negative coefficient
    bool below_unit = true, above_unit = true;
  };
  const std::vector<Uses>& uses() {
    uses_.assign(columns_, {});
    for (const Row& r : rows_)
      for (size_t v = 0; v < columns_; ++v) {
        int32_t c = of(r)[v];
        if (c > 0) ++uses_[v].below, uses_[v].below_unit &= c == 1;
        if (c < 0) ++uses_[v].above, uses_[v].above_unit &= c == -1;
      }
    return uses_;
  }
  /// Eliminates the unknown whose elimination is exact, if there is one, and makes the fewest rows.
  void eliminate_cheapest() {
    std::optional<std::pair<std::pair<bool, int64_t>, size_t>> best;
    const std::vector<Uses>& all = uses();
    for (size_t v = 0; v < columns_; ++v) {
      const Uses& u = all[v];
      if (u.below + u.above == 0) continue;
      bool rounds = u.below > 0 && u.above > 0 && !u.below_unit && !u.above_unit;
      auto more = static_cast<int64_t>(u.below * u.above) - static_cast<int64_t>(u.below + u.above);
      std::pair key{std::pair{rounds, more}, v};
      if (!best || key < *best) best = key;
    }
    if (best->first.first) exact_ = false;
    eliminate(best->second, all[best->second]);
  }
  void eliminate(size_t v, const Uses& u) {
    if (u.below * u.above > 4 * kMaxRows) {
      failed_ = true;
      return;
    }
    size_t at = cells_.size();
    cells_.resize(at + u.below * u.above * columns_);
    spare_.clear();
    for (const Row& a : rows_) {
      if (of(a)[v] == 0) spare_.push_back(a);
      if (of(a)[v] <= 0) continue;
      for (const Row& b : rows_) {
        if (of(b)[v] >= 0) continue;
        spare_.push_back(combined(a, -int64_t{of(b)[v]}, of(a), b, of(a)[v], of(b), at));
        at += columns_;
      }
    }
    rows_.swap(spare_);
  }

  size_t columns_;
  Numbers numbers_;
  Trail* trail_;
  size_t contradiction_ = 0;
  std::vector<Row> rows_, spare_;
  std::vector<int32_t> cells_;
  std::vector<Uses> uses_;
  bool exact_ = true, failed_ = false;
};

/// Tries the cases of disjunctions.
class Cases {
 public:
  explicit Cases(const Conjunction& facts) {
    for (const Formula& f : facts) columns_.add(f);
  }

  Decision run(const std::vector<const Formula*>& facts) {
    if (++cases_ > kMaxCases) return Decision::Open;
    Elimination rows(columns_.size());
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
    int32_t* cells = rows.add(sign * p.constant());
    for (const auto& [m, c] : p.terms()) cells[columns_.of(m)] = static_cast<int32_t>(sign * c);
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

/// False where a number is too large.
bool add_all(Elimination& rows, const std::vector<Inequality>& facts) {
  auto small = [](int64_t x) { return x <= kLargest && x >= -kLargest; };
  for (const Inequality& f : facts) {
    if (!small(f.k) || !std::ranges::all_of(f.c, small)) return false;
    std::ranges::transform(f.c, rows.add(f.k, f.strict, f.origin),
                           [](int64_t x) { return static_cast<int32_t>(x); });
  }
  return true;
}

}  // namespace

std::optional<size_t> contradiction(const std::vector<Inequality>& facts, Trail& trail) {
  if (facts.empty()) return std::nullopt;
  Elimination rows(facts[0].c.size(), Numbers::Integers, &trail);
  if (!add_all(rows, facts)) return std::nullopt;
  return rows.run() == Decision::Refuted ? std::optional(rows.contradiction()) : std::nullopt;
}

bool no_reals(const std::vector<Inequality>& facts) {
  if (facts.empty()) return false;
  Elimination rows(facts[0].c.size(), Numbers::Reals);
  return add_all(rows, facts) && rows.run() == Decision::Refuted;
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
      for (const Poly& m : multipliers_) {
        Poly p = f.poly * above_minimum(m);
        if (!literal || !occurs(p) || all_.size() > facts_.size() + kMaxProducts) continue;
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

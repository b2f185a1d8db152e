#include "verify/linear.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace regraft::verify {
namespace {

constexpr size_t kMaxRows = 160;
constexpr int kMaxCases = 48;
constexpr int64_t kLargest = int64_t{1} << 40;  // of a coefficient; more is given up
constexpr size_t kMaxProducts = 60;             // facts that with_products adds

/// The sum of c[i] * x[i], plus k, is not negative.
struct Row {
  std::vector<int64_t> c;
  int64_t k = 0;
};

bool is_fact(const Row& r) {
  return std::all_of(r.c.begin(), r.c.end(), [](int64_t x) { return x == 0; });
}

/// Divided by the greatest common divisor, rounded as integers allow.
void tighten(Row& r) {
  int64_t g = 0;
  for (int64_t x : r.c) g = std::gcd(g, x);
  if (g < 2) return;
  for (int64_t& x : r.c) x /= g;
  r.k = floordiv(r.k, g);
}

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

/// Inequalities, from which unknowns are eliminated one after the other.
class Elimination {
 public:
  explicit Elimination(size_t columns) : columns_(columns) {}

  void add(Row r) { rows_.push_back(std::move(r)); }

  Decision run() {
    while (!failed_) {
      if (!tidy()) return Decision::Refuted;
      if (rows_.empty()) return exact_ ? Decision::Satisfiable : Decision::Open;
      if (!use_equality()) eliminate(cheapest());
    }
    return Decision::Open;
  }

 private:
  /// One row for each direction, the strongest; false: they contradict each other.
  bool tidy() {
    for (Row& r : rows_) tighten(r);
    std::sort(rows_.begin(), rows_.end(),
              [](const Row& a, const Row& b) { return std::tie(a.c, a.k) < std::tie(b.c, b.k); });
    rows_.erase(std::unique(rows_.begin(), rows_.end(),
                            [](const Row& a, const Row& b) { return a.c == b.c; }),
                rows_.end());
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (!is_fact(rows_[i])) continue;
      if (rows_[i].k < 0) return false;
      rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(i));
      break;  // there is but one
    }
    if (rows_.size() > kMaxRows) failed_ = true;
    return true;
  }
  const Row* opposite(const Row& r) const {
    for (const Row& x : rows_) {
      bool all = true;
      for (size_t i = 0; i < columns_ && all; ++i) all = x.c[i] == -r.c[i];
      if (all) return &x;
    }
    return nullptr;
  }
  /// x and -x are not negative: an unknown with coefficient 1 is replaced. Opposite rows that
  /// contradict each other leave a number below 0.
  bool use_equality() {
    for (const Row& r : rows_) {
      const Row* x = opposite(r);
      if (!x || x->k + r.k > 0) continue;
      if (x->k + r.k < 0) {
        rows_ = {{std::vector<int64_t>(columns_), -1}};
        return true;
      }
      auto unit = std::find_if(r.c.begin(), r.c.end(), [](int64_t c) { return c == 1 || c == -1; });
      if (unit == r.c.end()) continue;
      replace(static_cast<size_t>(unit - r.c.begin()), r);
      return true;
    }
    return false;
  }
  /// Row r is 0, and has coefficient 1 or -1 at column v.
  void replace(size_t v, Row r) {
    for (Row& x : rows_)
      if (x.c[v] != 0) x = combined(x, 1, r, -x.c[v] * r.c[v]);
  }
  Row combined(const Row& a, int64_t ca, const Row& b, int64_t cb) {
    Row r{std::vector<int64_t>(columns_), ca * a.k + cb * b.k};
    for (size_t i = 0; i < columns_; ++i) r.c[i] = ca * a.c[i] + cb * b.c[i];
    auto large = [](int64_t x) { return x > kLargest || x < -kLargest; };
    if (large(r.k) || std::any_of(r.c.begin(), r.c.end(), large)) failed_ = true;
    return r;
  }
  struct Uses {
    size_t below = 0, above = 0;  // rows with a positive and with a negative coefficient
    bool below_unit = true, above_unit = true;
  };
  Uses uses(size_t v) const {
    Uses u;
    for (const Row& r : rows_) {
      if (r.c[v] > 0) ++u.below, u.below_unit = u.below_unit && r.c[v] == 1;
      if (r.c[v] < 0) ++u.above, u.above_unit = u.above_unit && r.c[v] == -1;
    }
    return u;
  }
  /// The unknown whose elimination is exact, if there is one, and makes the fewest rows.
  size_t cheapest() const {
    std::optional<std::pair<std::pair<bool, int64_t>, size_t>> best;
    for (size_t v = 0; v < columns_; ++v) {
      Uses u = uses(v);
      if (u.below + u.above == 0) continue;
      bool rounds = u.below > 0 && u.above > 0 && !u.below_unit && !u.above_unit;
      auto more = static_cast<int64_t>(u.below * u.above) - static_cast<int64_t>(u.below + u.above);
      std::pair key{std::pair{rounds, more}, v};
      if (!best || key < *best) best = key;
    }
    return best->second;
  }
  void eliminate(size_t v) {
    Uses u = uses(v);
    if (u.below > 0 && u.above > 0 && !u.below_unit && !u.above_unit) exact_ = false;
    if (u.below * u.above > 4 * kMaxRows) {
      failed_ = true;
      return;
    }
    std::vector<Row> rest;
    for (const Row& a : rows_) {
      if (a.c[v] == 0) rest.push_back(a);
      if (a.c[v] <= 0) continue;
      for (const Row& b : rows_)
        if (b.c[v] < 0) rest.push_back(combined(a, -b.c[v], b, a.c[v]));
    }
    rows_ = std::move(rest);
  }

  size_t columns_;
  std::vector<Row> rows_;
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
  Row row(const Poly& p, int64_t sign) {
    Row r{std::vector<int64_t>(columns_.size()), sign * p.constant()};
    for (const auto& [m, c] : p.terms()) r.c[columns_.of(m)] += sign * c;
    return r;
  }
  void add_rows(Elimination& rows, const Formula& f) {
    if (f.kind == Formula::And)
      for (const Formula& part : f.parts) add_rows(rows, part);
    if (f.kind == Formula::NonNegative || f.kind == Formula::Zero) rows.add(row(f.poly, 1));
    if (f.kind == Formula::Zero) rows.add(row(f.poly, -1));
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

Conjunction with_products(const Conjunction& facts) {
  Columns columns;
  for (const Formula& f : facts) columns.add(f);
  std::vector<Var> factors;  // of products, not negative
  for (const Monomial* m : columns.all())
    for (Var v : *m) {
      bool sign = plainly_implies(facts, Poly(0) <= Poly::symbol(v));
      if (m->size() > 1 && sign && std::find(factors.begin(), factors.end(), v) == factors.end())
        factors.push_back(v);
    }
  Conjunction all = facts;
  for (const Formula& f : facts) {
    if (f.kind != Formula::NonNegative && f.kind != Formula::Zero) continue;
    for (Var v : factors) {
      Poly p = f.poly * Poly::symbol(v);
      bool occurs = std::all_of(p.terms().begin(), p.terms().end(), [&](auto& t) {
        return t.monomial.size() < 2 || columns.has(t.monomial);
      });
      if (!occurs || all.size() > facts.size() + kMaxProducts) continue;
      add(all, f.kind == Formula::Zero ? p == Poly(0) : Poly(0) <= p);
    }
  }
  return all;
}

}  // namespace regraft::verify

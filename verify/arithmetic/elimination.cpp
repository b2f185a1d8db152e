#include "verify/arithmetic/elimination.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "ir/algebra/poly.h"

namespace regraft::verify {
namespace {

constexpr size_t kMaxRows = 160;
constexpr int64_t kLargest = int64_t{1} << 30;  // of a coefficient; more is given up

constexpr uint32_t kNone = UINT32_MAX;  // no column

bool too_large(int64_t x) { return x > kLargest || x < -kLargest; }

}  // namespace

void Elimination::add(const Inequality& row) {
  const size_t first = cells_.size();
  failed_ = failed_ || too_large(row.k);
  for (const auto& [column, times] : row.c) {
    failed_ = failed_ || too_large(times);
    cells_.push_back({column, static_cast<int32_t>(times)});
    if (column >= uses_.size()) uses_.resize(column + 1);
  }
  std::sort(cells_.begin() + static_cast<std::ptrdiff_t>(first), cells_.end(),
            [](const Cell& a, const Cell& b) { return a.column < b.column; });
  size_t end = first;
  for (size_t k = first; k < cells_.size();) {
    const uint32_t column = cells_[k].column;
    int64_t sum = 0;
    for (; k < cells_.size() && cells_[k].column == column; ++k) sum += cells_[k].times;
    failed_ = failed_ || too_large(sum);
    if (sum != 0) cells_[end++] = {column, static_cast<int32_t>(sum)};
  }
  cells_.resize(end);
  rows_.push_back({first, end - first, row.k, row.origin, row.strict});
}

Decision Elimination::run() {
  while (!failed_) {
    if (!tidy()) return Decision::Refuted;
    if (use_equality()) continue;
    drop_one_sided();
    if (rows_.empty()) return exact_ ? Decision::Satisfiable : Decision::Open;
    eliminate_cheapest();
  }
  return Decision::Open;
}

int32_t Elimination::coefficient(const Row& r, uint32_t column) const {
  for (const Cell& c : cells(r))
    if (c.column >= column) return c.column == column ? c.times : 0;
  return 0;
}

/// The order of the coefficients, `sign` times those of b, from the first column on. Cells are not
/// 0, so rows differ where their columns do.
int Elimination::compare(const Row& a, const Row& b, int sign) const {
  const auto x = cells(a), y = cells(b);
  for (size_t i = 0; i < x.size() || i < y.size(); ++i) {
    const uint32_t p = i < x.size() ? x[i].column : kNone, q = i < y.size() ? y[i].column : kNone;
    const int32_t c = p <= q ? x[i].times : 0, d = q <= p ? sign * y[i].times : 0;
    if (c != d) return c < d ? -1 : 1;
  }
  return 0;
}

/// Divided by the greatest common divisor, rounded as integers allow.
void Elimination::tighten(Row& r) {
  if (std::exchange(r.tight, true)) return;
  int64_t g = numbers_ == Numbers::Reals ? r.k : 0;
  for (const Cell& c : cells(r)) {
    g = std::gcd(g, c.times);
    if (g == 1) return;
  }
  if (g < 2) return;
  if (trail_) r.origin = trail_->add({r.origin, r.origin, 1, 0, g, r.k % g != 0});
  for (size_t i = 0; i < r.size; ++i)
    cells_[r.at + i].times = static_cast<int32_t>(cells_[r.at + i].times / g);
  r.k = floordiv(r.k, g);
}

/// One row for each direction, the strongest, in order; false: they contradict each other.
bool Elimination::tidy() {
  const auto fresh = rows_.begin() + static_cast<std::ptrdiff_t>(sorted_);
  std::for_each(fresh, rows_.end(), [&](Row& r) { tighten(r); });
  auto before = [&](const Row& a, const Row& b) {
    const int order = compare(a, b);
    if (order != 0) return order < 0;
    return std::tie(a.k, b.strict, a.origin) < std::tie(b.k, a.strict, b.origin);
  };
  std::sort(fresh, rows_.end(), before);
  std::inplace_merge(rows_.begin(), fresh, rows_.end(), before);
  rows_.erase(std::unique(rows_.begin(), rows_.end(),
                          [&](const Row& a, const Row& b) { return compare(a, b) == 0; }),
              rows_.end());
  const auto plain = std::ranges::find(rows_, 0u, &Row::size);  // there is but one
  if (plain != rows_.end()) {
    contradiction_ = plain->origin;
    if (plain->k < 0 || (plain->k == 0 && plain->strict)) return false;
    rows_.erase(plain);
  }
  sorted_ = rows_.size();
  if (rows_.size() > (trail_ ? 2 : 1) * kMaxRows) failed_ = true;
  return true;
}

/// REQUIRES: tidy rows.
const Elimination::Row* Elimination::opposite(const Row& r) const {
  auto it = std::partition_point(rows_.begin(), rows_.end(),
                                 [&](const Row& x) { return compare(x, r, -1) < 0; });
  return it != rows_.end() && compare(*it, r, -1) == 0 ? &*it : nullptr;
}

/// x and -x are not negative: an unknown with coefficient 1 is replaced. Opposite rows that
/// contradict each other leave a number below 0.
bool Elimination::use_equality() {
  for (const Row& r : rows_) {
    if (cells(r)[0].times > 0) break;  // of two opposite rows the second
    const Row* x = opposite(r);
    if (!x || x->k + r.k > 0) continue;
    if (x->k + r.k < 0 || x->strict || r.strict) {
      const size_t origin = trail_ ? trail_->add({x->origin, r.origin, 1, 1}) : 0;
      rows_.clear();
      sorted_ = 0;
      add({{}, -1, false, origin});
      return true;
    }
    auto unit =
        std::ranges::find_if(cells(r), [](const Cell& c) { return c.times == 1 || c.times == -1; });
    if (unit == cells(r).end()) continue;
    replace(unit->column, r, x->origin);
    return true;
  }
  return false;
}

/// Rows without the column, in order, are kept; what follows them is new.
void Elimination::keep_without(uint32_t column) {
  spare_.clear();
  for (const Row& r : rows_)
    if (coefficient(r, column) == 0) spare_.push_back(r);
  sorted_ = spare_.size();
}

/// Row r is 0, and has coefficient 1 or -1 at the column. `opposite`: the place of -r.
void Elimination::replace(uint32_t column, Row r, size_t opposite) {
  const int32_t unit = coefficient(r, column);
  keep_without(column);
  for (const Row& x : rows_) {
    const int32_t c = coefficient(x, column);
    if (c == 0) continue;
    const int64_t times = -int64_t{c} * unit;
    Row without = combined(x, 1, r, times);
    if (trail_ && times < 0) without.origin = trail_->add({x.origin, opposite, 1, -times});
    spare_.push_back(without);
  }
  rows_.swap(spare_);
}

/// ca a + cb b.
Elimination::Row Elimination::combined(const Row& a, int64_t ca, const Row& b, int64_t cb) {
  Row r{cells_.size(), 0, ca * a.k + cb * b.k, 0, a.strict || b.strict};
  int64_t large = std::abs(r.k);
  cells_.resize(r.at + a.size + b.size);
  const auto x = cells(a), y = cells(b);
  for (size_t i = 0, j = 0; i < x.size() || j < y.size();) {
    const bool from_x = j == y.size() || (i < x.size() && x[i].column <= y[j].column);
    const bool from_y = i == x.size() || (j < y.size() && y[j].column <= x[i].column);
    const uint32_t column = from_x ? x[i].column : y[j].column;
    int64_t c = 0;
    if (from_x) c += ca * x[i++].times;
    if (from_y) c += cb * y[j++].times;
    if (c == 0) continue;
    large = std::max(large, std::abs(c));
    cells_[r.at + r.size++] = {column, static_cast<int32_t>(c)};
  }
  cells_.resize(r.at + r.size);
  if (large > kLargest) failed_ = true;
  if (trail_ && cb >= 0) r.origin = trail_->add({a.origin, b.origin, ca, cb});
  return r;
}

void Elimination::count_uses() {
  std::ranges::fill(uses_, Uses{});
  for (const Row& r : rows_)
    for (const auto& [column, times] : cells(r)) {
      Uses& u = uses_[column];
      if (times > 0) ++u.below, u.below_unit &= times == 1;
      if (times < 0) ++u.above, u.above_unit &= times == -1;
    }
}

/// Drops each row with an unknown that the rows bound from one side only; counts what is left.
void Elimination::drop_one_sided() {
  for (bool dropped = true; dropped;) {
    count_uses();
    dropped = std::erase_if(rows_, [&](const Row& r) {
                return std::ranges::any_of(
                    cells(r), [&](const Cell& c) { return uses_[c.column].one_sided(); });
              }) > 0;
  }
  sorted_ = rows_.size();
}

/// Eliminates the unknown whose elimination is exact, if there is one, and makes the fewest rows.
void Elimination::eliminate_cheapest() {
  std::optional<std::tuple<bool, int64_t, uint32_t>> best;
  for (uint32_t v = 0; v < uses_.size(); ++v) {
    const Uses& u = uses_[v];
    if (u.one_sided()) continue;  // it occurs in no row
    const auto more =
        static_cast<int64_t>(u.below * u.above) - static_cast<int64_t>(u.below + u.above);
    const std::tuple key{u.rounds(), more, v};
    if (!best || key < *best) best = key;
  }
  if (std::get<bool>(*best)) exact_ = false;
  eliminate(std::get<uint32_t>(*best));
}

void Elimination::eliminate(uint32_t column) {
  if (uses_[column].below * uses_[column].above > 4 * kMaxRows) {
    failed_ = true;
    return;
  }
  keep_without(column);
  for (const Row& a : rows_) {
    const int64_t ca = coefficient(a, column);
    if (ca <= 0) continue;
    for (const Row& b : rows_)
      if (const int64_t cb = coefficient(b, column); cb < 0)
        spare_.push_back(combined(a, -cb, b, ca));
  }
  rows_.swap(spare_);
}

std::optional<size_t> contradiction(const std::vector<Inequality>& facts, Trail& trail) {
  Elimination rows(Elimination::Numbers::Integers, &trail);
  for (const Inequality& f : facts) rows.add(f);
  return rows.run() == Decision::Refuted ? std::optional(rows.contradiction()) : std::nullopt;
}

bool no_reals(const std::vector<Inequality>& facts) {
  Elimination rows(Elimination::Numbers::Reals);
  for (const Inequality& f : facts) rows.add(f);
  return rows.run() == Decision::Refuted;
}

}  // namespace regraft::verify

#include "verify/derivations/combination.h"

namespace regraft::verify {
namespace {

using kernel::Fraction;

Fraction minus(Fraction a) { return {-a.n, a.d}; }
Fraction over(Fraction a) { return Fraction::make(a.d, a.n); }
bool less(Fraction a, Fraction b) { return (a + minus(b)).n < 0; }

/// Rows of coefficients, the right side last; `basis`: which column each row has.
struct Tableau {
  std::vector<std::vector<Fraction>> rows;
  std::vector<Fraction> cost;
  std::vector<size_t> basis;

  void subtract(std::vector<Fraction>& from, const std::vector<Fraction>& row, Fraction c) {
    if (c.n == 0) return;
    for (size_t j = 0; j < from.size(); ++j)
      if (row[j].n != 0) from[j] = from[j] + minus(c) * row[j];
  }
  void pivot(size_t i, size_t j) {
    const Fraction c = over(rows[i][j]);
    for (Fraction& x : rows[i]) x = x * c;
    for (size_t k = 0; k < rows.size(); ++k)
      if (k != i) subtract(rows[k], rows[i], rows[k][j]);
    subtract(cost, rows[i], cost[j]);
    basis[i] = j;
  }
};

std::vector<Fraction> solution(Tableau& t, size_t columns) {
  constexpr int kMostPivots = 400;
  const size_t last = t.cost.size() - 1;
  for (int step = 0; step < kMostPivots; ++step) {
    size_t j = 0;  // Bland's rule: the first column, the first row
    while (j < columns && t.cost[j].n >= 0) ++j;
    if (j == columns) break;
    std::optional<size_t> leaving;
    Fraction best;
    for (size_t i = 0; i < t.rows.size(); ++i) {
      if (t.rows[i][j].n <= 0) continue;
      Fraction ratio = t.rows[i][last] * over(t.rows[i][j]);
      bool first =
          !leaving || less(ratio, best) || (ratio == best && t.basis[i] < t.basis[*leaving]);
      if (first) {
        leaving = i;
        best = ratio;
      }
    }
    if (!leaving) break;
    t.pivot(*leaving, j);
  }
  std::vector<Fraction> x(columns);
  for (size_t i = 0; i < t.rows.size(); ++i)
    if (t.basis[i] < columns) x[t.basis[i]] = t.rows[i][last];
  return t.cost[last].n == 0 ? x : std::vector<Fraction>{};
}

}  // namespace

std::optional<std::vector<Fraction>> combination(const std::vector<std::vector<Fraction>>& columns,
                                                 const std::vector<Fraction>& b) {
  const size_t n = columns.size(), m = b.size();
  Tableau t;
  t.cost.resize(n + m + 1);
  try {
    for (size_t i = 0; i < m; ++i) {
      const Fraction turn{b[i].n < 0 ? -1 : 1, 1};
      std::vector<Fraction> row(n + m + 1);
      for (size_t j = 0; j < n; ++j) row[j] = turn * columns[j][i];
      row[n + i] = {1, 1};
      row[n + m] = turn * b[i];
      t.subtract(t.cost, row, {1, 1});
      t.cost[n + i] = {0, 1};
      t.rows.push_back(std::move(row));
      t.basis.push_back(n + i);
    }
    std::vector<Fraction> x = solution(t, n);
    if (x.size() == n && n > 0) return x;
  } catch (const kernel::Refused&) {
  }
  return std::nullopt;
}

}  // namespace regraft::verify

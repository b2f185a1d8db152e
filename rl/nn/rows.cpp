// Tape's operations that move rows and columns, and those over segments of rows.
#include <limits>

#include "rl/nn/tape_impl.h"

namespace regraft::rl::nn {
namespace {

bool in_range(const Indices& indices, int64_t n) {
  for (int32_t i : indices)
    if (i < 0 || i >= n) return false;
  return true;
}

template <class S>
std::vector<S> inverse_counts(const Indices& segment_of_row, int64_t n) {
  std::vector<S> factor(n, S(0));
  for (int32_t s : segment_of_row) factor[s] += 1;
  for (S& f : factor) f = f > 0 ? 1 / f : 0;
  return factor;
}

/// Maxima over each segment; of each the first row that has it, -1: empty.
template <class S>
struct Maxima {
  Matrix<S> value;
  std::vector<int32_t> row;
};

template <class S>
Maxima<S> maxima(const Matrix<S>& m, const Indices& segment_of_row, int64_t n) {
  const int64_t width = m.cols();
  Matrix<S> out = Matrix<S>::Constant(n, width, -std::numeric_limits<S>::infinity());
  std::vector<int32_t> best(out.size(), -1);
  for (int32_t i = 0; i < m.rows(); ++i) {
    const S* from = m.data() + i * width;
    S* to = out.data() + segment_of_row[i] * width;
    int32_t* row = best.data() + segment_of_row[i] * width;
    for (int64_t j = 0; j < width; ++j) {
      row[j] = from[j] > to[j] ? i : row[j];
      to[j] = from[j] > to[j] ? from[j] : to[j];
    }
  }
  for (size_t k = 0; k < best.size(); ++k)
    if (best[k] < 0) out.data()[k] = 0;
  return {std::move(out), std::move(best)};
}

}  // namespace

template <class S>
Var Tape<S>::concat_columns(const std::vector<Var>& parts) {
  CHECK(!parts.empty());
  int64_t width = 0;
  for (Var p : parts) width += cols(p);
  auto [y, out] = fresh(rows(parts[0]), width);
  int64_t at = 0;
  for (Var p : parts) {
    CHECK(rows(p) == out.rows());
    out.middleCols(at, cols(p)) = value(p);
    at += cols(p);
  }
  return link(y, parts, [parts](Tape& t, Var self) {
    int64_t start = 0;
    for (Var p : parts) {
      t.flow(p, t.gradient(self).middleCols(start, t.cols(p)));
      start += t.cols(p);
    }
  });
}

template <class S>
Var Tape<S>::concat_rows(const std::vector<Var>& parts) {
  CHECK(!parts.empty());
  int64_t height = 0;
  for (Var p : parts) height += rows(p);
  auto [y, out] = fresh(height, cols(parts[0]));
  int64_t at = 0;
  for (Var p : parts) {
    CHECK(cols(p) == out.cols());
    out.middleRows(at, rows(p)) = value(p);
    at += rows(p);
  }
  return link(y, parts, [parts](Tape& t, Var self) {
    int64_t start = 0;
    for (Var p : parts) {
      t.flow(p, t.gradient(self).middleRows(start, t.rows(p)));
      start += t.rows(p);
    }
  });
}

template <class S>
Var Tape<S>::slice_columns(Var a, int64_t start, int64_t count) {
  CHECK(start >= 0 && count >= 0 && start + count <= cols(a));
  auto [y, out] = fresh(rows(a), count);
  out = value(a).middleCols(start, count);
  return link(y, {a}, [a, start, count](Tape& t, Var self) {
    t.gradient_of(a).middleCols(start, count) += t.gradient(self);
  });
}

template <class S>
Var Tape<S>::slice_rows(Var a, int64_t start, int64_t count) {
  CHECK(start >= 0 && count >= 0 && start + count <= rows(a));
  auto [y, out] = fresh(count, cols(a));
  out = value(a).middleRows(start, count);
  return link(y, {a}, [a, start, count](Tape& t, Var self) {
    t.gradient_of(a).middleRows(start, count) += t.gradient(self);
  });
}

template <class S>
Var Tape<S>::gather_rows(Var a, const Indices& indices) {
  CHECK(in_range(indices, rows(a)));
  auto [y, out] = fresh(indices.size(), cols(a));
  for (int64_t i = 0; i < indices.size(); ++i) out.row(i) = value(a).row(indices[i]);
  return link(y, {a}, [a, indices](Tape& t, Var self) {
    Matrix<S>& into = t.gradient_of(a);
    const Matrix<S>& g = t.gradient(self);
    for (int64_t i = 0; i < indices.size(); ++i) into.row(indices[i]) += g.row(i);
  });
}

template <class S>
Var Tape<S>::segment_sum(Var a, const Indices& segment_of_row, int64_t n) {
  CHECK(segment_of_row.size() == rows(a) && in_range(segment_of_row, n));
  auto [y, out] = fresh(n, cols(a));
  out.setZero();
  for (int64_t i = 0; i < rows(a); ++i) out.row(segment_of_row[i]) += value(a).row(i);
  return link(y, {a}, [a, segment_of_row](Tape& t, Var self) {
    Matrix<S>& into = t.gradient_of(a);
    const Matrix<S>& g = t.gradient(self);
    for (int64_t i = 0; i < into.rows(); ++i) into.row(i) += g.row(segment_of_row[i]);
  });
}

template <class S>
Var Tape<S>::segment_mean(Var a, const Indices& segment_of_row, int64_t n) {
  CHECK(segment_of_row.size() == rows(a) && in_range(segment_of_row, n));
  std::vector<S> factor = inverse_counts<S>(segment_of_row, n);
  auto [y, out] = fresh(n, cols(a));
  out.setZero();
  for (int64_t i = 0; i < rows(a); ++i) out.row(segment_of_row[i]) += value(a).row(i);
  for (int64_t s = 0; s < n; ++s) out.row(s) *= factor[s];
  return link(y, {a}, [a, segment_of_row, factor = std::move(factor)](Tape& t, Var self) {
    Matrix<S>& into = t.gradient_of(a);
    const Matrix<S>& g = t.gradient(self);
    for (int64_t i = 0; i < into.rows(); ++i)
      into.row(i) += g.row(segment_of_row[i]) * factor[segment_of_row[i]];
  });
}

template <class S>
Var Tape<S>::segment_max(Var a, const Indices& segment_of_row, int64_t n) {
  CHECK(segment_of_row.size() == rows(a) && in_range(segment_of_row, n));
  const int64_t width = cols(a);
  auto [y, out] = fresh(n, width);
  Maxima<S> m = maxima<S>(value(a), segment_of_row, n);
  out = std::move(m.value);
  return link(y, {a}, [a, width, best = std::move(m.row)](Tape& t, Var self) {
    Matrix<S>& into = t.gradient_of(a);
    const S* g = t.gradient(self).data();
    for (size_t k = 0; k < best.size(); ++k)
      if (best[k] >= 0) into(best[k], k % width) += g[k];
  });
}

#define INSTANTIATE(S)                                              \
  template Var Tape<S>::concat_columns(const std::vector<Var>&);    \
  template Var Tape<S>::concat_rows(const std::vector<Var>&);       \
  template Var Tape<S>::slice_columns(Var, int64_t, int64_t);       \
  template Var Tape<S>::slice_rows(Var, int64_t, int64_t);          \
  template Var Tape<S>::gather_rows(Var, const Indices&);           \
  template Var Tape<S>::segment_sum(Var, const Indices&, int64_t);  \
  template Var Tape<S>::segment_mean(Var, const Indices&, int64_t); \
  template Var Tape<S>::segment_max(Var, const Indices&, int64_t);
INSTANTIATE(float)
INSTANTIATE(double)

}  // namespace regraft::rl::nn

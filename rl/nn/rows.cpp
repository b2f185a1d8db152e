// Tape's operations that move rows and columns, and those over segments of rows.
#include <limits>
#include <numeric>

#include "rl/nn/tape_impl.h"
#include "rl/nn/wide.h"

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

Indices all_rows(int64_t n) {
  std::vector<int32_t> rows(n);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

/// Adds rows of `from`, each times weight(k), to rows of `to`.
template <class S, class Weight>
void add_rows(Matrix<S>& to, const Indices& at, const Matrix<S>& from, const Indices& rows,
              Weight weight) {
  const int64_t width = to.cols();
  wide([&]() REGRAFT_WIDE {
    for (int64_t k = 0; k < rows.size(); ++k) {
      S* __restrict sums = to.data() + at[k] * width;
      const S* __restrict terms = from.data() + rows[k] * width;
      const S factor = weight(k);
      for (int64_t j = 0; j < width; ++j) sums[j] += terms[j] * factor;
    }
  });
}

template <class S>
void add_rows(Matrix<S>& to, const Indices& at, const Matrix<S>& from, const Indices& rows) {
  add_rows(to, at, from, rows, [](int64_t) { return S(1); });
}

/// Maxima over each segment, 0 of an empty one; of each the first row that has it, -1: empty.
template <class S>
struct Maxima {
  Matrix<S> value;
  std::vector<int32_t> row;  // none, unless they are asked for
};

template <class S, bool WithRows>
Maxima<S> maxima(const Matrix<S>& m, const Indices& rows, const Indices& segments, int64_t n) {
  const int64_t width = m.cols();
  const S least = -std::numeric_limits<S>::infinity();
  Maxima<S> found{Matrix<S>::Constant(n, width, least), {}};
  if (WithRows) found.row.assign(found.value.size(), -1);
  wide([&]() REGRAFT_WIDE {
    for (int64_t i = 0; i < rows.size(); ++i) {
      const S* __restrict from = m.data() + rows[i] * width;
      S* __restrict to = found.value.data() + segments[i] * width;
      if (WithRows) {
        int32_t* __restrict row = found.row.data() + segments[i] * width;
        const int32_t number = rows[i];
        for (int64_t j = 0; j < width; ++j) {
          const int32_t before = row[j];
          row[j] = from[j] > to[j] ? number : before;
        }
      }
      for (int64_t j = 0; j < width; ++j) to[j] = from[j] > to[j] ? from[j] : to[j];
    }
  });
  found.value = (found.value.array() == least).select(S(0), found.value);
  return found;
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
    add_rows(into, indices, g, all_rows(indices.size()));
  });
}

template <class S>
Var Tape<S>::gather_columns(Var a, const Indices& indices) {
  CHECK(in_range(indices, cols(a)));
  auto [y, out] = fresh(rows(a), indices.size());
  for (int64_t r = 0; r < out.rows(); ++r)
    for (int64_t i = 0; i < indices.size(); ++i) out(r, i) = value(a)(r, indices[i]);
  return link(y, {a}, [a, indices](Tape& t, Var self) {
    Matrix<S>& into = t.gradient_of(a);
    const Matrix<S>& g = t.gradient(self);
    for (int64_t r = 0; r < g.rows(); ++r)
      for (int64_t i = 0; i < indices.size(); ++i) into(r, indices[i]) += g(r, i);
  });
}

template <class S>
Var Tape<S>::segment_sum(Var a, const Indices& rows, const Indices& segments, int64_t n) {
  CHECK(rows.size() == segments.size() && in_range(rows, this->rows(a)) && in_range(segments, n));
  auto [y, out] = fresh(n, cols(a));
  out.setZero();
  add_rows(out, segments, value(a), rows);
  return link(y, {a}, [a, rows, segments](Tape& t, Var self) {
    add_rows(t.gradient_of(a), rows, t.gradient(self), segments);
  });
}

template <class S>
Var Tape<S>::weighted_segment_sum(Var a, const Indices& rows, std::vector<S> weights,
                                  const Indices& segments, int64_t n) {
  CHECK(rows.size() == segments.size() && in_range(rows, this->rows(a)) && in_range(segments, n));
  CHECK(rows.size() == static_cast<int64_t>(weights.size()));
  auto [y, out] = fresh(n, cols(a));
  out.setZero();
  add_rows(out, segments, value(a), rows, [&](int64_t k) { return weights[k]; });
  return link(y, {a}, [a, rows, segments, weights = std::move(weights)](Tape& t, Var self) {
    add_rows(t.gradient_of(a), rows, t.gradient(self), segments,
             [&](int64_t k) { return weights[k]; });
  });
}

template <class S>
Var Tape<S>::segment_mean(Var a, const Indices& rows, const Indices& segments, int64_t n) {
  CHECK(rows.size() == segments.size() && in_range(rows, this->rows(a)) && in_range(segments, n));
  std::vector<S> factor = inverse_counts<S>(segments, n);
  auto [y, out] = fresh(n, cols(a));
  out.setZero();
  add_rows(out, segments, value(a), rows);
  for (int64_t s = 0; s < n; ++s) out.row(s) *= factor[s];
  return link(y, {a}, [a, rows, segments, factor = std::move(factor)](Tape& t, Var self) {
    add_rows(t.gradient_of(a), rows, t.gradient(self), segments,
             [&](int64_t k) { return factor[segments[k]]; });
  });
}

template <class S>
Var Tape<S>::segment_max(Var a, const Indices& rows, const Indices& segments, int64_t n) {
  CHECK(rows.size() == segments.size() && in_range(rows, this->rows(a)) && in_range(segments, n));
  const int64_t width = cols(a);
  auto [y, out] = fresh(n, width);
  auto m = into_ ? maxima<S, true>(value(a), rows, segments, n)
                 : maxima<S, false>(value(a), rows, segments, n);
  out = std::move(m.value);
  return link(y, {a}, [a, width, best = std::move(m.row)](Tape& t, Var self) {
    Matrix<S>& into = t.gradient_of(a);
    const S* g = t.gradient(self).data();
    for (size_t k = 0; k < best.size(); ++k)
      if (best[k] >= 0) into(best[k], k % width) += g[k];
  });
}

template <class S>
Var Tape<S>::segment_sum(Var a, const Indices& segment_of_row, int64_t n) {
  return segment_sum(a, all_rows(rows(a)), segment_of_row, n);
}

template <class S>
Var Tape<S>::segment_mean(Var a, const Indices& segment_of_row, int64_t n) {
  return segment_mean(a, all_rows(rows(a)), segment_of_row, n);
}

template <class S>
Var Tape<S>::segment_max(Var a, const Indices& segment_of_row, int64_t n) {
  return segment_max(a, all_rows(rows(a)), segment_of_row, n);
}

#define INSTANTIATE_SEGMENT(S, f)                        \
  template Var Tape<S>::f(Var, const Indices&, int64_t); \
  template Var Tape<S>::f(Var, const Indices&, const Indices&, int64_t);
#define INSTANTIATE(S)                                                                            \
  template Var Tape<S>::concat_columns(const std::vector<Var>&);                                  \
  template Var Tape<S>::concat_rows(const std::vector<Var>&);                                     \
  template Var Tape<S>::slice_columns(Var, int64_t, int64_t);                                     \
  template Var Tape<S>::slice_rows(Var, int64_t, int64_t);                                        \
  template Var Tape<S>::gather_rows(Var, const Indices&);                                         \
  template Var Tape<S>::gather_columns(Var, const Indices&);                                      \
  template Var Tape<S>::weighted_segment_sum(Var, const Indices&, std::vector<S>, const Indices&, \
                                             int64_t);                                            \
  INSTANTIATE_SEGMENT(S, segment_sum)                                                             \
  INSTANTIATE_SEGMENT(S, segment_mean)                                                            \
  INSTANTIATE_SEGMENT(S, segment_max)
INSTANTIATE(float)
INSTANTIATE(double)

}  // namespace regraft::rl::nn

// Tape's sums, maxima, norms and softmaxes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "rl/nn/tape_impl.h"

namespace regraft::rl::nn {
namespace {

/// Of each segment of a column: log of the sum of exp. Empty: whatever.
template <class S>
std::vector<S> log_sum_exps(const Matrix<S>& column, const Indices& segment_of_row, int64_t n) {
  std::vector<S> top(n, std::numeric_limits<S>::lowest()), sum(n, S(0));
  for (int64_t i = 0; i < segment_of_row.size(); ++i)
    top[segment_of_row[i]] = std::max(top[segment_of_row[i]], column(i, 0));
  for (int64_t i = 0; i < segment_of_row.size(); ++i)
    sum[segment_of_row[i]] += std::exp(column(i, 0) - top[segment_of_row[i]]);
  for (int64_t s = 0; s < n; ++s) top[s] += std::log(sum[s]);
  return top;
}

template <class S>
S log_sum_exp(const Matrix<S>& m, int64_t row) {
  const S top = m.row(row).maxCoeff();
  return top + std::log((m.row(row).array() - top).exp().sum());
}

Indices one_segment(int64_t rows) { return std::vector<int32_t>(rows, 0); }

}  // namespace

template <class S>
Var Tape<S>::sum(Var a) {
  auto [y, out] = fresh(1, 1);
  out(0, 0) = value(a).sum();
  return link(y, {a}, [a](Tape& t, Var self) {
    t.flow(a, Matrix<S>::Constant(t.rows(a), t.cols(a), t.gradient(self)(0, 0)));
  });
}

template <class S>
Var Tape<S>::mean(Var a) {
  CHECK(value(a).size() > 0);
  return scale(sum(a), S(1) / static_cast<S>(value(a).size()));
}

template <class S>
Var Tape<S>::row_sum(Var a) {
  auto [y, out] = fresh(rows(a), 1);
  out = value(a).rowwise().sum();
  return link(y, {a}, [a](Tape& t, Var self) {
    t.flow(a, t.gradient(self).col(0).rowwise().replicate(t.cols(a)));
  });
}

template <class S>
Var Tape<S>::column_sum(Var a) {
  return segment_sum(a, one_segment(rows(a)), 1);
}

template <class S>
Var Tape<S>::column_mean(Var a) {
  return segment_mean(a, one_segment(rows(a)), 1);
}

template <class S>
Var Tape<S>::column_max(Var a) {
  return segment_max(a, one_segment(rows(a)), 1);
}

template <class S>
Var Tape<S>::rms_norm(Var a, S epsilon) {
  auto [y, out] = fresh(rows(a), cols(a));
  std::vector<S> factor(rows(a));  // 1 / root of each row
  const S width = static_cast<S>(cols(a));
  for (int64_t i = 0; i < rows(a); ++i) {
    factor[i] = 1 / std::sqrt(value(a).row(i).squaredNorm() / width + epsilon);
    out.row(i) = value(a).row(i) * factor[i];
  }
  return link(y, {a}, [a, width, factor = std::move(factor)](Tape& t, Var self) {
    const Matrix<S>&g = t.gradient(self), &v = t.value(self);
    Matrix<S>& into = t.gradient_of(a);
    for (int64_t i = 0; i < g.rows(); ++i)
      into.row(i) += (g.row(i) - v.row(i) * (v.row(i).dot(g.row(i)) / width)) * factor[i];
  });
}

template <class S>
Var Tape<S>::log_softmax(Var column) {
  return segment_log_softmax(column, one_segment(rows(column)), 1);
}

template <class S>
Var Tape<S>::segment_log_softmax(Var column, const Indices& segment_of_row, int64_t n) {
  CHECK(cols(column) == 1 && segment_of_row.size() == rows(column));
  for (int32_t s : segment_of_row) CHECK(s >= 0 && s < n);
  const std::vector<S> logs = log_sum_exps<S>(value(column), segment_of_row, n);
  auto [y, out] = fresh(rows(column), 1);
  for (int64_t i = 0; i < out.rows(); ++i)
    out(i, 0) = value(column)(i, 0) - logs[segment_of_row[i]];
  return link(y, {column}, [column, segment_of_row, n](Tape& t, Var self) {
    const Matrix<S>&g = t.gradient(self), &v = t.value(self);
    std::vector<S> sums(n, S(0));
    for (int64_t i = 0; i < g.rows(); ++i) sums[segment_of_row[i]] += g(i, 0);
    Matrix<S>& into = t.gradient_of(column);
    for (int64_t i = 0; i < g.rows(); ++i)
      into(i, 0) += g(i, 0) - std::exp(v(i, 0)) * sums[segment_of_row[i]];
  });
}

template <class S>
Var Tape<S>::log_softmax_rows(Var a) {
  CHECK(cols(a) > 0);
  auto [y, out] = fresh(rows(a), cols(a));
  for (int64_t i = 0; i < rows(a); ++i)
    out.row(i) = value(a).row(i).array() - log_sum_exp<S>(value(a), i);
  return link(y, {a}, [a](Tape& t, Var self) {
    const Matrix<S>&g = t.gradient(self), &v = t.value(self);
    Matrix<S>& into = t.gradient_of(a);
    for (int64_t i = 0; i < g.rows(); ++i)
      into.row(i) += (g.row(i).array() - v.row(i).array().exp() * g.row(i).sum()).matrix();
  });
}

template <class S>
Var Tape<S>::row_log_sum_exp(Var a) {
  CHECK(cols(a) > 0);
  auto [y, out] = fresh(rows(a), 1);
  for (int64_t i = 0; i < rows(a); ++i) out(i, 0) = log_sum_exp<S>(value(a), i);
  return link(y, {a}, [a](Tape& t, Var self) {
    const Matrix<S>&g = t.gradient(self), &v = t.value(self);
    Matrix<S>& into = t.gradient_of(a);
    for (int64_t i = 0; i < g.rows(); ++i)
      into.row(i) += ((t.value(a).row(i).array() - v(i, 0)).exp() * g(i, 0)).matrix();
  });
}

#define INSTANTIATE_UNARY(S, f) template Var Tape<S>::f(Var);
#define INSTANTIATE(S)                                                              \
  INSTANTIATE_UNARY(S, sum)                                                         \
  INSTANTIATE_UNARY(S, mean)                                                        \
  INSTANTIATE_UNARY(S, row_sum)                                                     \
  INSTANTIATE_UNARY(S, column_sum)                                                  \
  INSTANTIATE_UNARY(S, column_mean)                                                 \
  INSTANTIATE_UNARY(S, column_max)                                                  \
  INSTANTIATE_UNARY(S, log_softmax)                                                 \
  INSTANTIATE_UNARY(S, log_softmax_rows)                                            \
      INSTANTIATE_UNARY(S, row_log_sum_exp) template Var Tape<S>::rms_norm(Var, S); \
  template Var Tape<S>::segment_log_softmax(Var, const Indices&, int64_t);
INSTANTIATE(float)
INSTANTIATE(double)

}  // namespace regraft::rl::nn

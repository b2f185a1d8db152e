// Tape's operations on each number, and broadcasts of a row or a column.
#include <algorithm>
#include <cmath>

#include "rl/nn/tape_impl.h"

namespace regraft::rl::nn {

/// f: array to array; derivative(x, y): the slope at one number.
template <class S>
template <class F, class D>
Var Tape<S>::unary(Var a, F f, D derivative) {
  auto [y, out] = fresh(rows(a), cols(a));
  out = f(value(a).array()).matrix();
  return link(y, {a}, [a, derivative](Tape& t, Var self) {
    const S* __restrict x = t.value(a).data();
    const S* __restrict v = t.value(self).data();
    const S* __restrict g = t.gradient(self).data();
    S* __restrict into = t.gradient_of(a).data();
    const int64_t n = t.value(a).size();
    for (int64_t i = 0; i < n; ++i) into[i] += g[i] * derivative(x[i], v[i]);
  });
}

template <class S>
Var Tape<S>::scale(Var a, S factor) {
  auto [y, out] = fresh(rows(a), cols(a));
  out = value(a) * factor;
  return link(y, {a}, [a, factor](Tape& t, Var self) { t.flow(a, t.gradient(self) * factor); });
}

template <class S>
Var Tape<S>::add_scalar(Var a, S term) {
  return unary(
      a, [term](auto x) { return x + term; }, [](S, S) { return S(1); });
}

template <class S>
Var Tape<S>::relu(Var a) {
  return unary(
      a, [](auto x) { return x.max(S(0)); }, [](S x, S) { return x > 0 ? S(1) : S(0); });
}

template <class S>
Var Tape<S>::tanh(Var a) {
  return unary(
      a, [](auto x) { return x.tanh(); }, [](S, S y) { return 1 - y * y; });
}

template <class S>
Var Tape<S>::sigmoid(Var a) {
  return unary(
      a, [](auto x) { return (S(1) + (-x).exp()).inverse(); }, [](S, S y) { return y * (1 - y); });
}

template <class S>
Var Tape<S>::softplus(Var a) {
  return unary(
      a, [](auto x) { return x.max(S(0)) + (-x.abs()).exp().log1p(); },
      [](S, S y) { return -std::expm1(-y); });
}

template <class S>
Var Tape<S>::exp(Var a) {
  return unary(
      a, [](auto x) { return x.exp(); }, [](S, S y) { return y; });
}

template <class S>
Var Tape<S>::log(Var a) {
  return unary(
      a, [](auto x) { return x.log(); }, [](S x, S) { return 1 / x; });
}

template <class S>
Var Tape<S>::square(Var a) {
  return unary(
      a, [](auto x) { return x.square(); }, [](S x, S) { return 2 * x; });
}

template <class S>
Var Tape<S>::abs(Var a) {
  return unary(
      a, [](auto x) { return x.abs(); }, [](S x, S) { return S(x > 0) - S(x < 0); });
}

template <class S>
Var Tape<S>::huber(Var a, S delta) {
  return unary(
      a,
      [delta](auto x) {
        auto inside = x.abs().min(delta);
        return (inside * (x.abs() - inside / 2)).eval();
      },
      [delta](S x, S) { return std::clamp(x, -delta, delta); });
}

template <class S>
Var Tape<S>::clamp(Var a, S low, S high) {
  return unary(
      a, [=](auto x) { return x.max(low).min(high); },
      [=](S x, S) { return x >= low && x <= high ? S(1) : S(0); });
}

template <class S>
Var Tape<S>::add(Var a, Var b) {
  CHECK(same_shape(a, b));
  auto [y, out] = fresh(rows(a), cols(a));
  out = value(a) + value(b);
  return link(y, {a, b}, [a, b](Tape& t, Var self) {
    t.flow(a, t.gradient(self));
    t.flow(b, t.gradient(self));
  });
}

template <class S>
Var Tape<S>::sub(Var a, Var b) {
  CHECK(same_shape(a, b));
  auto [y, out] = fresh(rows(a), cols(a));
  out = value(a) - value(b);
  return link(y, {a, b}, [a, b](Tape& t, Var self) {
    t.flow(a, t.gradient(self));
    t.flow(b, -t.gradient(self));
  });
}

template <class S>
Var Tape<S>::mul(Var a, Var b) {
  CHECK(same_shape(a, b));
  auto [y, out] = fresh(rows(a), cols(a));
  out = value(a).cwiseProduct(value(b));
  return link(y, {a, b}, [a, b](Tape& t, Var self) {
    t.flow(a, t.gradient(self).cwiseProduct(t.value(b)));
    t.flow(b, t.gradient(self).cwiseProduct(t.value(a)));
  });
}

/// a's number where first(a, b), else b's.
template <class S>
template <class F>
Var Tape<S>::choose(Var a, Var b, F first) {
  CHECK(same_shape(a, b));
  auto [y, out] = fresh(rows(a), cols(a));
  out = value(a).binaryExpr(value(b), [first](S p, S q) { return first(p, q) ? p : q; });
  return link(y, {a, b}, [a, b, first](Tape& t, Var self) {
    auto chosen =
        t.value(a).binaryExpr(t.value(b), [first](S p, S q) { return first(p, q) ? S(1) : S(0); });
    const Matrix<S>& g = t.gradient(self);
    t.flow(a, g.cwiseProduct(chosen));
    t.flow(b, g - g.cwiseProduct(chosen));
  });
}

template <class S>
Var Tape<S>::minimum(Var a, Var b) {
  return choose(a, b, [](S p, S q) { return p <= q; });
}

template <class S>
Var Tape<S>::maximum(Var a, Var b) {
  return choose(a, b, [](S p, S q) { return p >= q; });
}

template <class S>
Var Tape<S>::add_row(Var a, Var row) {
  CHECK(rows(row) == 1 && cols(row) == cols(a));
  auto [y, out] = fresh(rows(a), cols(a));
  for (int64_t i = 0; i < rows(a); ++i) out.row(i) = value(a).row(i) + value(row).row(0);
  return link(y, {a, row}, [a, row](Tape& t, Var self) {
    const Matrix<S>& g = t.gradient(self);
    t.flow(a, g);
    if (!t.needs(row)) return;
    Matrix<S>& sums = t.gradient_of(row);
    for (int64_t i = 0; i < g.rows(); ++i) sums.row(0) += g.row(i);
  });
}

template <class S>
Var Tape<S>::mul_row(Var a, Var row) {
  CHECK(rows(row) == 1 && cols(row) == cols(a));
  auto [y, out] = fresh(rows(a), cols(a));
  for (int64_t i = 0; i < rows(a); ++i)
    out.row(i) = value(a).row(i).cwiseProduct(value(row).row(0));
  return link(y, {a, row}, [a, row](Tape& t, Var self) {
    const Matrix<S>& g = t.gradient(self);
    if (t.needs(a)) {
      Matrix<S>& into = t.gradient_of(a);
      for (int64_t i = 0; i < g.rows(); ++i)
        into.row(i) += g.row(i).cwiseProduct(t.value(row).row(0));
    }
    if (!t.needs(row)) return;
    Matrix<S>& sums = t.gradient_of(row);
    for (int64_t i = 0; i < g.rows(); ++i) sums.row(0) += g.row(i).cwiseProduct(t.value(a).row(i));
  });
}

template <class S>
Var Tape<S>::add_column(Var a, Var column) {
  CHECK(cols(column) == 1 && rows(column) == rows(a));
  auto [y, out] = fresh(rows(a), cols(a));
  out = value(a).colwise() + value(column).col(0);
  return link(y, {a, column}, [a, column](Tape& t, Var self) {
    t.flow(a, t.gradient(self));
    t.flow(column, t.gradient(self).rowwise().sum());
  });
}

template <class S>
Var Tape<S>::mul_column(Var a, Var column) {
  CHECK(cols(column) == 1 && rows(column) == rows(a));
  auto [y, out] = fresh(rows(a), cols(a));
  for (int64_t i = 0; i < rows(a); ++i) out.row(i) = value(a).row(i) * value(column)(i, 0);
  return link(y, {a, column}, [a, column](Tape& t, Var self) {
    const Matrix<S>& g = t.gradient(self);
    t.flow(column, g.cwiseProduct(t.value(a)).rowwise().sum());
    if (!t.needs(a)) return;
    Matrix<S>& into = t.gradient_of(a);
    for (int64_t i = 0; i < g.rows(); ++i) into.row(i) += g.row(i) * t.value(column)(i, 0);
  });
}

#define INSTANTIATE_UNARY(S, f) template Var Tape<S>::f(Var);
#define INSTANTIATE_BINARY(S, f) template Var Tape<S>::f(Var, Var);
#define INSTANTIATE(S)                                                                         \
  INSTANTIATE_UNARY(S, relu)                                                                   \
  INSTANTIATE_UNARY(S, tanh)                                                                   \
  INSTANTIATE_UNARY(S, sigmoid)                                                                \
  INSTANTIATE_UNARY(S, softplus)                                                               \
  INSTANTIATE_UNARY(S, exp)                                                                    \
  INSTANTIATE_UNARY(S, log)                                                                    \
  INSTANTIATE_UNARY(S, square)                                                                 \
  INSTANTIATE_UNARY(S, abs) INSTANTIATE_BINARY(S, add) INSTANTIATE_BINARY(S, sub)              \
      INSTANTIATE_BINARY(S, mul) INSTANTIATE_BINARY(S, minimum) INSTANTIATE_BINARY(S, maximum) \
          INSTANTIATE_BINARY(S, add_row) INSTANTIATE_BINARY(S, mul_row)                        \
              INSTANTIATE_BINARY(S, add_column)                                                \
                  INSTANTIATE_BINARY(S, mul_column) template Var Tape<S>::scale(Var, S);       \
  template Var Tape<S>::add_scalar(Var, S);                                                    \
  template Var Tape<S>::huber(Var, S);                                                         \
  template Var Tape<S>::clamp(Var, S, S);
INSTANTIATE(float)
INSTANTIATE(double)

}  // namespace regraft::rl::nn

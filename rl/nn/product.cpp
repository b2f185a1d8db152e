#include "rl/nn/product.h"

#include "base/check.h"

namespace regraft::rl::nn {
namespace {

#if defined(__x86_64__)
constexpr int64_t kBytes = 32;  // of a vector
template <class S>
constexpr int64_t kLanes = kBytes / static_cast<int64_t>(sizeof(S));

/// Of row-major matrices: c (rows x width) = a (rows x inner) b (inner x width).
template <class S>
struct Operands {
  int64_t rows, inner, width;
  const S *a, *b;
  S* c;
};

/// `Rows` rows and `Vectors` vectors of columns of c from (i, j) on, summed in registers.
template <class S, int Rows, int Vectors>
[[gnu::always_inline]] inline void tile(const Operands<S>& o, int64_t i, int64_t j) {
  typedef S Vector __attribute__((vector_size(kBytes), aligned(alignof(S)), may_alias));
  Vector sums[Rows][Vectors] = {};
  for (int64_t k = 0; k < o.inner; ++k) {
    const S* b = o.b + k * o.width + j;
    for (int r = 0; r < Rows; ++r)
      for (int v = 0; v < Vectors; ++v)
        sums[r][v] +=
            o.a[(i + r) * o.inner + k] * *reinterpret_cast<const Vector*>(b + v * kLanes<S>);
  }
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < Vectors; ++v)
      *reinterpret_cast<Vector*>(o.c + (i + r) * o.width + j + v * kLanes<S>) = sums[r][v];
}

template <class S, int Rows>
[[gnu::always_inline]] inline void row_tiles(const Operands<S>& o, int64_t i) {
  int64_t j = 0;
  for (; j + 2 * kLanes<S> <= o.width; j += 2 * kLanes<S>) tile<S, Rows, 2>(o, i, j);
  if (j + kLanes<S> <= o.width) tile<S, Rows, 1>(o, i, j);
}

/// All columns that fill vectors.
template <class S>
[[gnu::target("avx2,fma")]] void multiply_wide(const Operands<S>& o) {
  int64_t i = 0;
  for (; i + 4 <= o.rows; i += 4) row_tiles<S, 4>(o, i);
  for (; i < o.rows; ++i) row_tiles<S, 1>(o, i);
}

/// How many columns of a b have been put into c.
template <class S>
int64_t leading_columns(const Matrix<S>& a, const Matrix<S>& b, Matrix<S>& c) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
  multiply_wide<S>({a.rows(), a.cols(), b.cols(), a.data(), b.data(), c.data()});
  return b.cols() / kLanes<S> * kLanes<S>;
}
#else
template <class S>
int64_t leading_columns(const Matrix<S>&, const Matrix<S>&, Matrix<S>&) {
  return 0;
}
#endif

}  // namespace

template <class S>
Matrix<S> product(const Matrix<S>& a, const Matrix<S>& b) {
  CHECK(a.cols() == b.rows());
  Matrix<S> c(a.rows(), b.cols());
  const int64_t rest = b.cols() - leading_columns(a, b, c);
  if (rest > 0) c.rightCols(rest).noalias() = a * b.rightCols(rest);
  return c;
}

template Matrix<float> product(const Matrix<float>&, const Matrix<float>&);
template Matrix<double> product(const Matrix<double>&, const Matrix<double>&);

}  // namespace regraft::rl::nn

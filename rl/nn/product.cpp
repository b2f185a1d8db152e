#include "rl/nn/product.h"

#include "base/check.h"

namespace regraft::rl::nn {
namespace {

#if defined(__x86_64__)
template <class S, int Bytes>
constexpr int64_t kLanes = Bytes / static_cast<int64_t>(sizeof(S));

/// c (rows x width) = a (rows x inner) b (inner x width), b and c row-major. From one number of a
/// to the next in its row and in its column it is `along` and `down` numbers.
template <class S>
struct Operands {
  int64_t rows, inner, width, along, down;
  const S *a, *b;
  S* c;
};

/// `Rows` rows and `Vectors` vectors of columns of c from (i, j) on, summed in registers.
template <class S, int Bytes, int Rows, int Vectors>
[[gnu::always_inline]] inline void tile(const Operands<S>& o, int64_t i, int64_t j) {
  typedef S Vector __attribute__((vector_size(Bytes), aligned(alignof(S)), may_alias));
  Vector sums[Rows][Vectors] = {};
  for (int64_t k = 0; k < o.inner; ++k) {
    const S* b = o.b + k * o.width + j;
    for (int r = 0; r < Rows; ++r)
      for (int v = 0; v < Vectors; ++v)
        sums[r][v] += o.a[(i + r) * o.down + k * o.along] *
                      *reinterpret_cast<const Vector*>(b + v * kLanes<S, Bytes>);
  }
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < Vectors; ++v)
      *reinterpret_cast<Vector*>(o.c + (i + r) * o.width + j + v * kLanes<S, Bytes>) = sums[r][v];
}

/// As many columns as fill vectors, from j on; where it ended.
template <class S, int Bytes, int Rows>
[[gnu::always_inline]] inline int64_t row_tiles(const Operands<S>& o, int64_t i, int64_t j) {
  constexpr int64_t lanes = kLanes<S, Bytes>;
  for (; j + 2 * lanes <= o.width; j += 2 * lanes) tile<S, Bytes, Rows, 2>(o, i, j);
  for (; j + lanes <= o.width; j += lanes) tile<S, Bytes, Rows, 1>(o, i, j);
  return j;
}

template <class S>
[[gnu::target("avx512f,avx2,fma")]] void multiply_512(const Operands<S>& o) {
  int64_t i = 0;
  for (; i + 8 <= o.rows; i += 8) row_tiles<S, 32, 8>(o, i, row_tiles<S, 64, 8>(o, i, 0));
  for (; i + 4 <= o.rows; i += 4) row_tiles<S, 32, 4>(o, i, row_tiles<S, 64, 4>(o, i, 0));
  for (; i < o.rows; ++i) row_tiles<S, 32, 1>(o, i, row_tiles<S, 64, 1>(o, i, 0));
}

template <class S>
[[gnu::target("avx2,fma")]] void multiply_256(const Operands<S>& o) {
  int64_t i = 0;
  for (; i + 4 <= o.rows; i += 4) row_tiles<S, 32, 4>(o, i, 0);
  for (; i < o.rows; ++i) row_tiles<S, 32, 1>(o, i, 0);
}

/// How many columns of a b have been put into c; a is row-major, or the transpose of such.
template <class A, class S>
int64_t leading_columns(const A& a, const Matrix<S>& b, Matrix<S>& c) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
  const Operands<S> o{a.rows(),      a.cols(), b.cols(), a.colStride(),
                      a.rowStride(), a.data(), b.data(), c.data()};
  if (__builtin_cpu_supports("avx512f"))
    multiply_512(o);
  else
    multiply_256(o);
  return b.cols() / kLanes<S, 32> * kLanes<S, 32>;
}
#else
template <class A, class S>
int64_t leading_columns(const A&, const Matrix<S>&, Matrix<S>&) {
  return 0;
}
#endif

template <class A, class S>
Matrix<S> multiply(const A& a, const Matrix<S>& b) {
  CHECK(a.cols() == b.rows());
  Matrix<S> c(a.rows(), b.cols());
  const int64_t rest = b.cols() - leading_columns(a, b, c);
  if (rest > 0) c.rightCols(rest).noalias() = a * b.rightCols(rest);
  return c;
}

}  // namespace

template <class S>
Matrix<S> product(const Matrix<S>& a, const Matrix<S>& b) {
  return multiply(a, b);
}

template <class S>
Matrix<S> transposed_product(const Matrix<S>& a, const Matrix<S>& b) {
  return multiply(a.transpose(), b);
}

#define INSTANTIATE(S)                                            \
  template Matrix<S> product(const Matrix<S>&, const Matrix<S>&); \
  template Matrix<S> transposed_product(const Matrix<S>&, const Matrix<S>&);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace regraft::rl::nn

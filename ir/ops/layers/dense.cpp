#include "ir/ops/layers/dense.h"

#include <Eigen/Core>

namespace regraft::ops {

void multiply(const double* a, int64_t a_stride, const double* b, int64_t b_stride, double* c,
              int64_t c_stride, int64_t rows, int64_t inner, int64_t columns) {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Stride = Eigen::OuterStride<>;
  Eigen::Map<const Matrix, 0, Stride> x(a, rows, inner, Stride(a_stride));
  Eigen::Map<const Matrix, 0, Stride> y(b, inner, columns, Stride(b_stride));
  Eigen::Map<Matrix, 0, Stride> z(c, rows, columns, Stride(c_stride));
  z.noalias() = x * y;
}

}  // namespace regraft::ops

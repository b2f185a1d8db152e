#pragma once
// Matrix products for the operators' dense kernels. The only user of Eigen here.
#include <cstdint>

namespace regraft::ops {

/// c = a * b with a [rows, inner], b [inner, columns], c [rows, columns], all row-major doubles.
/// `a_stride` and so on are the distances between rows.
void multiply(const double* a, int64_t a_stride, const double* b, int64_t b_stride, double* c,
              int64_t c_stride, int64_t rows, int64_t inner, int64_t columns);

}  // namespace regraft::ops

#pragma once
// Products of small matrices, with wide vectors where the processor has them.
#include "rl/nn/parameters.h"

namespace regraft::rl::nn {

/// a b, on the calling thread. Rounding depends on the processor, not on anything else.
/// REQUIRES: a.cols() == b.rows().
template <class S>
Matrix<S> product(const Matrix<S>& a, const Matrix<S>& b);

/// The same of a's transpose and b. REQUIRES: a.rows() == b.rows().
template <class S>
Matrix<S> transposed_product(const Matrix<S>& a, const Matrix<S>& b);

}  // namespace regraft::rl::nn

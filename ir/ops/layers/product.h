#pragma once
// What products of matrices share: batch axes are broadcast, the last two are the matrix.
#include "ir/ops/define.h"

namespace regraft::ops {

/// The batch axes broadcast, the two matrix axes as in i.
template <class T, class I>
Indices<I> operand_position(const T& t, std::span<const I> i) {
  Indices<I> j;
  size_t skip = i.size() - static_cast<size_t>(t.rank());
  for (int d = 0; d < t.rank(); ++d)
    j.push_back(d < t.rank() - 2 && is_one(t.dim(d)) ? I(0) : i[static_cast<size_t>(d) + skip]);
  return j;
}

/// Shape of x * y. REQUIRES: both have two axes or more.
template <Algebra A, class S = ShapeOf<typename A::Index>>
S product_shape(A& alg, const S& x, const S& y) {
  alg.require(x[x.size() - 1] == y[y.size() - 2]);
  S batch = broadcast(alg, S(x.begin(), x.end() - 2), S(y.begin(), y.end() - 2));
  batch.push_back(x[x.size() - 2]);
  batch.push_back(y[y.size() - 1]);
  return batch;
}

/// Where the matrix that `batch` reads begins; `shape` is the product's.
inline int64_t matrix_offset(const NumTensor<double>& t, std::span<const int64_t> shape,
                             int64_t batch) {
  int64_t at_element = 0;
  for (int d = static_cast<int>(shape.size()) - 3, k = t.rank() - 3; d >= 0; --d, --k) {
    int64_t i = batch % shape[static_cast<size_t>(d)];
    batch /= shape[static_cast<size_t>(d)];
    if (k >= 0 && t.dim(k) != 1) at_element += i * t.strides[static_cast<size_t>(k)];
  }
  return at_element;
}

}  // namespace regraft::ops

#pragma once
// Small tensors whose elements are known as functions of a model's sizes.
#include <memory>
#include <vector>

#include "ir/algebra/tensor.h"

namespace regraft {

/// An element: value / divisor. Of integers and booleans the divisor is 1.
struct SizeElement {
  Poly value;
  int64_t divisor = 1;  ///< above 0
};

/// A tensor of integers, booleans (0 and 1) or float32 numbers, row-major: what a model computes
/// its shapes with. Immutable.
struct SizeTensor {
  DType dtype = DType::I64;
  std::vector<int64_t> dims;
  std::vector<SizeElement> elements;
};
using SizeTensorPtr = std::shared_ptr<const SizeTensor>;

/// Every element is a number.
bool is_numeric(const SizeTensor& t);
/// The tensor as data. REQUIRES: is_numeric(t).
std::shared_ptr<const Constant> constant_of(const SizeTensor& t);
/// The data as sizes; nullptr: of another type, too large, or not exact.
SizeTensorPtr sizes_of(const Constant& c);

}  // namespace regraft

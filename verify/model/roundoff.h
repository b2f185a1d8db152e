#pragma once
// What rounding to an element type costs.
#include "ir/algebra/tensor.h"

namespace regraft::verify {

/// The largest relative error of one rounding to nearest; of types that are not listed float32's.
inline double roundoff(DType type) {
  switch (type) {
    case DType::F64:
      return 0x1p-53;
    case DType::F16:
      return 0x1p-11;
    case DType::BF16:
      return 0x1p-8;
    default:
      return 0x1p-24;
  }
}

/// The least positive number that keeps all its digits.
inline double smallest(DType type) {
  return type == DType::F64 ? 0x1p-1022 : type == DType::F16 ? 0x1p-14 : 0x1p-126;
}

}  // namespace regraft::verify

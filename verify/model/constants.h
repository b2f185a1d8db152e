#pragma once
// Constants that an optimiser computed: what they are of the original's, and how far off.
#include <optional>

#include "base/parallel.h"
#include "ir/graph/graph.h"

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

/// How a constant differs from an expression over constants.
struct Deviation {
  double deviation = 0;  ///< the largest, relative to the largest element of the expression
  double ratio = 0;      ///< the largest part of what rounding explains that an element takes up
  bool explained() const { return ratio <= 1; }
};

/// The constant value `b` against `a`, which calls compute from constants. What rounding explains
/// of an element is eight times the largest change that it shows when each number on the way is
/// disturbed by up to two roundings to its type, in several runs, and four roundings of its own; of
/// an `a` that is no call, and of an element that is not finite, nothing. nullopt: they have other
/// shapes, cannot be evaluated, or are integers too large for a double. An Error: a constant cannot
/// be read.
Result<std::optional<Deviation>> deviation(const Graph& g, Value a, Value b, const Stop& stop);

}  // namespace regraft::verify

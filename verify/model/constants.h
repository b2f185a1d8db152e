#pragma once
// Constants that an optimiser computed: what they are of the original's, and how far off.
#include <optional>

#include "base/parallel.h"
#include "ir/graph/graph.h"

namespace regraft::verify {

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

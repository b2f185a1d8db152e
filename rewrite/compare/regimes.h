#pragma once
// Random inputs over realistic and hostile magnitudes.
#include <string_view>

#include "base/rng.h"
#include "ir/graph/eval.h"

namespace regraft::rewrite {

/// How the real elements of an input are drawn. `high` is 1e4, for float16 1e2.
enum class Regime : uint8_t {
  Unit,        ///< uniform in [-1, 1)
  Mixed,       ///< each row (last axis) in one of the others
  Magnitudes,  ///< either sign, logarithm of the magnitude uniform: 1e-6 to high
  Logits,      ///< uniform in [-200, 200), for float16 [-20, 20)
  Integers,    ///< -3 to 3: ties, zeros
  Equal,       ///< all elements of a row equal, small or large
  Sparse,      ///< mostly exact zeros
  Positive,    ///< logarithm uniform: 1e-2 to high
  Negative,    ///< the same below zero
  Offset,      ///< a row's mean is a thousand times its spread
};
constexpr int kRegimes = 10;
std::string_view to_string(Regime regime);

/// Elements of other types do not depend on the regime: booleans, or integers from 0 to 7.
/// REQUIRES: no dimension below 0.
Array<double> random_tensor(DType type, std::vector<int64_t> shape, Regime regime, Rng rng);

}  // namespace regraft::rewrite

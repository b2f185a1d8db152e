#include "ir/ops/elementwise/logic/logic.h"

namespace regraft::ops {

// out[i] = 1 where a[i] >= b[i], else 0, with broadcasting
struct GreaterOrEqual : Comparison<GreaterOrEqual> {
  static constexpr std::string_view name = "greater-or-equal";
  static constexpr std::string_view onnx[] = {"GreaterOrEqual"};
  static constexpr TypeSupport types[] = {{DType::F32, 12, 12}, {DType::F16, 12, 12},
                                          {DType::F64, 12, 12}, {DType::BF16, 16, kNever},
                                          {DType::I64, 12, 12}, {DType::I32, 12, 12}};
  static bool compare(double a, double b) { return a >= b; }
  OP_ELEMENT {
    auto a = read_broadcast(alg, in[0], i), b = read_broadcast(alg, in[1], i);
    return negated(alg, positive(alg, minus(alg, b, a)));
  }
  // What is no number is neither above nor equal, nor below.
  OP_FLOAT_ELEMENT {
    auto a = read_broadcast(alg, in[0], i), b = read_broadcast(alg, in[1], i);
    return positive(alg, minus(alg, a, b)) + same_number(alg, a, b);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(greater_or_equal, GreaterOrEqual)

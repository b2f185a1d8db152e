#include "ir/ops/elementwise/arithmetic/several.h"

namespace regraft::ops {

// out[i] = the sum of the operands' elements at i, with broadcasting
struct SumOf : Several {
  static constexpr std::string_view name = "sum-of";
  static constexpr std::string_view onnx[] = {"Sum"};
  static constexpr TypeSupport types[] = {
      {DType::F32, 8, 8}, {DType::F16, 8, 8}, {DType::F64, 8, 8}, {DType::BF16, 13, kNever}};
  OP_ELEMENT {
    return over_operands(alg, in, i, [&](const auto& a, const auto& b) { return a + b; });
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(sum_of, SumOf)

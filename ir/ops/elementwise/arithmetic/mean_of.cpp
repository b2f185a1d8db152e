#include "ir/ops/elementwise/arithmetic/several.h"

namespace regraft::ops {

// out[i] = the mean of the operands' elements at i, with broadcasting
struct MeanOf : Several {
  static constexpr std::string_view name = "mean-of";
  static constexpr std::string_view onnx[] = {"Mean"};
  static constexpr TypeSupport types[] = {
      {DType::F32, 8, 8}, {DType::F16, 8, 8}, {DType::F64, 8, kNever}, {DType::BF16, 13, kNever}};
  OP_ELEMENT {
    return alg.constant(1, static_cast<int64_t>(in.size())) *
           over_operands(alg, in, i, [&](const auto& a, const auto& b) { return a + b; });
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(mean_of, MeanOf)

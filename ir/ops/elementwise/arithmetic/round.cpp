#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = the integer nearest to x[i], of two the even one
struct RoundOp : Elementwise<Fn::Round> {
  static constexpr std::string_view name = "round";
  static constexpr std::string_view onnx[] = {"Round"};
  static constexpr TypeSupport types[] = {
      {DType::F32, 11, 11}, {DType::F16, 11, 11}, {DType::F64, 11, 11}, {DType::BF16, 22, kNever}};
};

}  // namespace regraft::ops
REGRAFT_DEFINE(round, RoundOp)

#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = sin(x[i])
struct Sin : Elementwise<Fn::Sin> {
  static constexpr std::string_view name = "sin";
  static constexpr std::string_view onnx[] = {"Sin"};
  static constexpr TypeSupport types[] = {
      {DType::F32, 7, 7}, {DType::F16, 7, 7}, {DType::F64, 7, 7}, {DType::BF16, 22, kNever}};
};

}  // namespace regraft::ops
REGRAFT_DEFINE(sin, Sin)

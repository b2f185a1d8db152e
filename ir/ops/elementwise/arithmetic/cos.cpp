#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = cos(x[i])
struct Cos : Elementwise<Fn::Cos> {
  static constexpr std::string_view name = "cos";
  static constexpr std::string_view onnx[] = {"Cos"};
  static constexpr TypeSupport types[] = {
      {DType::F32, 7, 7}, {DType::F16, 7, 7}, {DType::F64, 7, 7}, {DType::BF16, 22, kNever}};
};

}  // namespace regraft::ops
REGRAFT_DEFINE(cos, Cos)

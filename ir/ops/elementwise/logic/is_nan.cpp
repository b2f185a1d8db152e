#include "ir/ops/elementwise/logic/logic.h"

namespace regraft::ops {

// out[i] = 1 where x[i] is no number, else 0
struct IsNan : Elementwise<Fn::IsNan> {
  static constexpr std::string_view name = "is-nan";
  static constexpr std::string_view onnx[] = {"IsNaN"};
  static constexpr auto typed = &told_apart;
  static constexpr TypeSupport types[] = {
      {DType::F32, 9, 9}, {DType::F16, 9, 9}, {DType::F64, 9, 9}, {DType::BF16, 13, 20}};
};

}  // namespace regraft::ops
REGRAFT_DEFINE(is_nan, IsNan)

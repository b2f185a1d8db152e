#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = erf(x[i])
struct Erf : Elementwise<Fn::Erf> {
  static constexpr std::string_view name = "erf";
  static constexpr std::string_view onnx[] = {"Erf"};
  static constexpr TypeSupport types[] = {
      {DType::F32, 9, 9}, {DType::F16, 9, 9}, {DType::F64, 9, kNever}, {DType::BF16, 13, kNever}};
};

}  // namespace regraft::ops
REGRAFT_DEFINE(erf, Erf)

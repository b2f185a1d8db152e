#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = x[i] * min(max(x[i] / 6 + 1/2, 0), 1)
struct HardSwish : Elementwise<Fn::Relu> {
  static constexpr std::string_view name = "hard-swish";
  static constexpr std::string_view onnx[] = {"HardSwish"};
  static constexpr TypeSupport types[] = {{DType::F32, 14, 14},
                                          {DType::F16, 14, 14},
                                          {DType::F64, 14, kNever},
                                          {DType::BF16, 22, kNever}};
  OP_ELEMENT {
    auto x = alg.read(in[0], i);
    auto linear = alg.constant(1, 6) * x + alg.constant(1, 2);
    return x * alg.clip(linear, Real{0, nullptr}, Real{1, nullptr});
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(hard_swish, HardSwish)

#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = x[i] * sigmoid(alpha * x[i])
struct Swish : Elementwise<Fn::Relu> {
  static constexpr std::string_view name = "swish";
  static constexpr std::string_view onnx[] = {"Swish"};
  static constexpr TypeSupport types[] = {{DType::F32, 24, kNever},
                                          {DType::F16, 24, kNever},
                                          {DType::F64, 24, kNever},
                                          {DType::BF16, 24, kNever}};
  static constexpr RealAttr reals[] = {{"alpha", 1}};
  OP_ELEMENT {
    auto x = alg.read(in[0], i);
    return x * alg.apply(Fn::Sigmoid, alg.real(at.reals[0]) * x);
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}}, {{}, {{0.5, nullptr}}}}, {{{5}}, {{}, {{1, nullptr}}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(swish, Swish)

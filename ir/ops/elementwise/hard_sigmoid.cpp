#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = min(max(alpha * x[i] + beta, 0), 1)
struct HardSigmoid : Elementwise<Fn::Relu> {
  static constexpr std::string_view name = "hard-sigmoid";
  static constexpr std::string_view onnx[] = {"HardSigmoid"};
  static constexpr RealAttr reals[] = {{"alpha", double{0.2F}}, {"beta", 0.5}};
  static constexpr TypeSupport types[] = {
      {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, kNever}, {DType::BF16, 22, kNever}};
  OP_ELEMENT {
    auto linear = alg.real(at.reals[0]) * alg.read(in[0], i) + alg.real(at.reals[1]);
    return alg.clip(linear, Real{0, nullptr}, Real{1, nullptr});
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}}, {{}, {{0.125, nullptr}, {0.5, nullptr}}}},
            {{{5}}, {{}, {{0.25, nullptr}, {0.5, nullptr}}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(hard_sigmoid, HardSigmoid)

#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = x[i], or alpha * x[i] where it is negative
struct LeakyRelu : Elementwise<Fn::Relu> {
  static constexpr std::string_view name = "leaky-relu";
  static constexpr std::string_view onnx[] = {"LeakyRelu"};
  static constexpr TypeSupport types[] = {
      {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, kNever}, {DType::BF16, 16, kNever}};
  static constexpr RealAttr reals[] = {{"alpha", double{0.01F}}};
  OP_ELEMENT { return leaking(alg, alg.read(in[0], i), alg.real(at.reals[0])); }
  static std::vector<Sample> samples() {
    return {{{{2, 3}}, {{}, {{0.125, nullptr}}}}, {{{5}}, {{}, {{0.25, nullptr}}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(leaky_relu, LeakyRelu)

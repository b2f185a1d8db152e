#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = x[i], or alpha * (exp(x[i]) - 1) where it is negative
struct Elu : Elementwise<Fn::Relu> {
  static constexpr std::string_view name = "elu";
  static constexpr std::string_view onnx[] = {"Elu"};
  static constexpr TypeSupport types[] = {
      {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, kNever}, {DType::BF16, 22, kNever}};
  static constexpr RealAttr reals[] = {{"alpha", 1}};
  OP_ELEMENT {
    auto x = alg.read(in[0], i);
    return alg.apply(Fn::Relu, x) + alg.real(at.reals[0]) * falling(alg, x);
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}}, {{}, {{0.5, nullptr}}}}, {{{5}}, {{}, {{1.25, nullptr}}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(elu, Elu)

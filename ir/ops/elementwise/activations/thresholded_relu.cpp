#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = x[i] where it is above alpha, else 0
struct ThresholdedRelu : Elementwise<Fn::Relu> {
  static constexpr std::string_view name = "thresholded-relu";
  static constexpr std::string_view onnx[] = {"ThresholdedRelu"};
  static constexpr TypeSupport types[] = {{DType::F32, 10, 10},
                                          {DType::F16, 10, 10},
                                          {DType::F64, 10, kNever},
                                          {DType::BF16, 22, kNever}};
  static constexpr RealAttr reals[] = {{"alpha", 1}};
  OP_ELEMENT {
    auto x = alg.read(in[0], i);
    auto above = alg.apply(Fn::Step, minus(alg, x, alg.real(at.reals[0])));
    return alg.choose(
        above, [&] { return x; }, [&] { return zero(alg); });
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}}, {{}, {{0.5, nullptr}}}}, {{{5}}, {{}, {{0.75, nullptr}}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(thresholded_relu, ThresholdedRelu)

#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = gamma * x[i], or gamma * alpha * (exp(x[i]) - 1) where it is negative
struct Selu : Elementwise<Fn::Relu> {
  static constexpr std::string_view name = "selu";
  static constexpr std::string_view onnx[] = {"Selu"};
  static constexpr TypeSupport types[] = {
      {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, kNever}, {DType::BF16, 22, kNever}};
  static constexpr RealAttr reals[] = {{"alpha", double{1.67326319217681884765625F}},
                                       {"gamma", double{1.05070102214813232421875F}}};
  OP_ELEMENT {
    auto x = alg.read(in[0], i);
    auto bent = alg.apply(Fn::Relu, x) + alg.real(at.reals[0]) * falling(alg, x);
    return alg.real(at.reals[1]) * bent;
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}}, {{}, {{0.5, nullptr}, {2, nullptr}}}},
            {{{5}}, {{}, {{1.25, nullptr}, {0.75, nullptr}}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(selu, Selu)

#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = x[i] * tanh(log(1 + exp(x[i])))
struct Mish : Elementwise<Fn::Tanh> {
  static constexpr std::string_view name = "mish";
  static constexpr std::string_view onnx[] = {"Mish"};
  static constexpr TypeSupport types[] = {{DType::F32, 18, 18},
                                          {DType::F16, 18, 18},
                                          {DType::F64, 18, kNever},
                                          {DType::BF16, 22, kNever}};
  OP_ELEMENT {
    auto x = alg.read(in[0], i);
    auto softplus = alg.apply(Fn::Log, alg.constant(1) + alg.apply(Fn::Exp, x));
    return x * alg.apply(Fn::Tanh, softplus);
  }
  // With the logarithm as max(x, 0) + log(1 + exp(-|x|)), where |x| = max(x, 0) + max(-x, 0)
  OP_FLOAT_ELEMENT {
    auto x = alg.read(in[0], i);
    auto positive = alg.apply(Fn::Relu, x);
    auto size = positive + alg.apply(Fn::Relu, minus(alg, zero(alg), x));
    auto tail = alg.apply(Fn::Exp, minus(alg, zero(alg), size));
    return x * alg.apply(Fn::Tanh, positive + alg.apply(Fn::Log, alg.constant(1) + tail));
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(mish, Mish)

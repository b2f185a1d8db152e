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
    return x * alg.apply(Fn::Tanh, softplus(alg, x));
  }
  OP_FLOAT_ELEMENT {
    auto x = alg.read(in[0], i);
    return x * alg.apply(Fn::Tanh, stable_softplus(alg, x));
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(mish, Mish)

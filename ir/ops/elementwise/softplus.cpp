#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = log(1 + exp(x[i]))
struct Softplus : Elementwise<Fn::Log> {
  static constexpr std::string_view name = "softplus";
  static constexpr std::string_view onnx[] = {"Softplus"};
  static constexpr TypeSupport types[] = {
      {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, kNever}, {DType::BF16, 22, kNever}};
  OP_ELEMENT {
    auto x = alg.read(in[0], i);
    return alg.apply(Fn::Log, alg.constant(1) + alg.apply(Fn::Exp, x));
  }
  // max(x, 0) + log(1 + exp(-|x|)), where |x| = max(x, 0) + max(-x, 0)
  OP_FLOAT_ELEMENT {
    auto x = alg.read(in[0], i);
    auto positive = alg.apply(Fn::Relu, x);
    auto size = positive + alg.apply(Fn::Relu, minus(alg, zero(alg), x));
    auto tail = alg.apply(Fn::Exp, minus(alg, zero(alg), size));
    return positive + alg.apply(Fn::Log, alg.constant(1) + tail);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(softplus, Softplus)

#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = 1, 0 or -1: the sign of x[i]
struct SignOp : Elementwise<Fn::Step> {
  static constexpr std::string_view name = "sign";
  static constexpr std::string_view onnx[] = {"Sign"};
  static constexpr TypeSupport types[] = {
      {DType::F32, 9, 9}, {DType::F16, 9, 9}, {DType::F64, 9, 9}, {DType::BF16, 13, 13}};
  OP_ELEMENT {
    auto x = alg.read(in[0], i);
    return minus(alg, alg.apply(Fn::Step, x), alg.apply(Fn::Step, minus(alg, zero(alg), x)));
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(sign, SignOp)

#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = log(1 + exp(x[i]))
struct Softplus : Elementwise<Fn::Log> {
  static constexpr std::string_view name = "softplus";
  static constexpr std::string_view onnx[] = {"Softplus"};
  static constexpr TypeSupport types[] = {
      {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, kNever}, {DType::BF16, 22, kNever}};
  OP_ELEMENT { return softplus(alg, alg.read(in[0], i)); }
  OP_FLOAT_ELEMENT { return stable_softplus(alg, alg.read(in[0], i)); }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(softplus, Softplus)

#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = x[i] / (1 + |x[i]|)
struct Softsign : Elementwise<Fn::Recip> {
  static constexpr std::string_view name = "softsign";
  static constexpr std::string_view onnx[] = {"Softsign"};
  static constexpr TypeSupport types[] = {
      {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, kNever}, {DType::BF16, 22, kNever}};
  OP_ELEMENT {
    auto x = alg.read(in[0], i);
    return x * alg.apply(Fn::Recip, alg.constant(1) + magnitude(alg, x));
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(softsign, Softsign)

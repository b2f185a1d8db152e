#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = a[i] / b[i], with broadcasting
struct Div : Broadcasting {
  static constexpr std::string_view name = "div";
  static constexpr std::string_view onnx[] = {"Div"};
  static constexpr Arithmetic arithmetic = Arithmetic::Quotient;
  OP_ELEMENT {
    auto a = read_broadcast(alg, in[0], i), b = read_broadcast(alg, in[1], i);
    return a * alg.apply(Fn::Recip, b);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(div, Div)

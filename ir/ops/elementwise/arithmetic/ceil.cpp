#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = the least integer that is at least x[i]
struct Ceil : Elementwise<Fn::Floor> {
  static constexpr std::string_view name = "ceil";
  static constexpr std::string_view onnx[] = {"Ceil"};
  OP_ELEMENT {
    auto below = minus(alg, zero(alg), alg.read(in[0], i));
    return minus(alg, zero(alg), alg.apply(Fn::Floor, below));
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(ceil, Ceil)

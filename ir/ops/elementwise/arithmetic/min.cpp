#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = the smaller of a[i] and b[i], with broadcasting
struct Min : Broadcasting {
  static constexpr std::string_view name = "min";
  static constexpr std::string_view onnx[] = {"Min"};
  static constexpr TypeSupport types[] = {
      {DType::F32, 8, 8}, {DType::F16, 8, 8}, {DType::F64, 8, 8}, {DType::BF16, 13, kNever}};
  static constexpr bool commutative = true;
  static constexpr bool associative = true;
  OP_ELEMENT {
    auto a = read_broadcast(alg, in[0], i), b = read_broadcast(alg, in[1], i);
    return smaller(alg, a, b);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(min, Min)

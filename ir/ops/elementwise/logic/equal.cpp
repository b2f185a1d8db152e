#include "ir/ops/elementwise/logic/logic.h"

namespace regraft::ops {

// out[i] = 1 where a[i] = b[i], else 0, with broadcasting
struct Equal : Comparison<Equal> {
  static constexpr std::string_view name = "equal";
  static constexpr std::string_view onnx[] = {"Equal"};
  static constexpr TypeSupport types[] = {
      {DType::F32, 11, 11}, {DType::F16, 11, 11}, {DType::F64, 11, 11}, {DType::BF16, 13, kNever},
      {DType::I64, 7, 7},   {DType::I32, 7, 7},   {DType::Bool, 7, 7}};
  static constexpr bool commutative = true;
  static bool compare(double a, double b) { return a == b; }
  OP_ELEMENT {
    auto a = read_broadcast(alg, in[0], i), b = read_broadcast(alg, in[1], i);
    return same_number(alg, a, b);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(equal, Equal)

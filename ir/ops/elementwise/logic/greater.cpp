#include "ir/ops/elementwise/logic/logic.h"

namespace regraft::ops {

// out[i] = 1 where a[i] > b[i], else 0, with broadcasting
struct Greater : Comparison<Greater> {
  static constexpr std::string_view name = "greater";
  static constexpr std::string_view onnx[] = {"Greater"};
  static constexpr TypeSupport types[] = {{DType::F32, 7, 7}, {DType::F16, 7, 7},
                                          {DType::F64, 7, 7}, {DType::BF16, 13, kNever},
                                          {DType::I64, 9, 9}, {DType::I32, 9, 9}};
  static bool compare(double a, double b) { return a > b; }
  OP_ELEMENT {
    auto a = read_broadcast(alg, in[0], i), b = read_broadcast(alg, in[1], i);
    return positive(alg, minus(alg, a, b));
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(greater, Greater)

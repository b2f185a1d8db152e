#include "ir/ops/elementwise/logic/logic.h"

namespace regraft::ops {

// out[i] = 1 where one of a[i] and b[i] is, else 0, with broadcasting
struct LogicalXor : Logic<LogicalXor> {
  static constexpr std::string_view name = "logical-xor";
  static constexpr std::string_view onnx[] = {"Xor"};
  OP_ELEMENT {
    auto a = read_broadcast(alg, in[0], i), b = read_broadcast(alg, in[1], i);
    return a + b + alg.constant(-2) * (a * b);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(logical_xor, LogicalXor)

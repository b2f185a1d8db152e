#include "ir/ops/elementwise/logic/logic.h"

namespace regraft::ops {

// out[i] = 1 where a[i] and b[i] are, else 0, with broadcasting
struct LogicalAnd : Logic<LogicalAnd> {
  static constexpr std::string_view name = "logical-and";
  static constexpr std::string_view onnx[] = {"And"};
  OP_ELEMENT {
    auto a = read_broadcast(alg, in[0], i), b = read_broadcast(alg, in[1], i);
    return a * b;
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(logical_and, LogicalAnd)

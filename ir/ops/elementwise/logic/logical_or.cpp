#include "ir/ops/elementwise/logic/logic.h"

namespace regraft::ops {

// out[i] = 1 where a[i] or b[i] is, else 0, with broadcasting
struct LogicalOr : Logic<LogicalOr> {
  static constexpr std::string_view name = "logical-or";
  static constexpr std::string_view onnx[] = {"Or"};
  OP_ELEMENT {
    auto a = read_broadcast(alg, in[0], i), b = read_broadcast(alg, in[1], i);
    return minus(alg, a + b, a * b);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(logical_or, LogicalOr)

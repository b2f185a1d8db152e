#include "ir/ops/elementwise/logic/logic.h"

namespace regraft::ops {

// out[i] = 1 - x[i], of a truth value
struct LogicalNot : Elementwise<Fn::Step> {
  static constexpr std::string_view name = "logical-not";
  static constexpr std::string_view onnx[] = {"Not"};
  static constexpr auto typed = &joined_truths;
  static constexpr unsigned truths = 1;
  static constexpr TypeSupport types[] = {{DType::Bool, 1, 1}};
  OP_ELEMENT { return negated(alg, alg.read(in[0], i)); }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    return are_truths(n, 0, 0) ? import_by_name(define<LogicalNot>(), n) : std::nullopt;
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(logical_not, LogicalNot)

#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = sqrt(x[i])
struct Sqrt : Elementwise<Fn::Sqrt> {
  static constexpr std::string_view name = "sqrt";
  static constexpr std::string_view onnx[] = {"Sqrt", "Pow"};
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    if (n.type == "Pow" && constant_exponent(n) != 0.5) return std::nullopt;
    return OnnxImport{{}, {0}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(sqrt, Sqrt)

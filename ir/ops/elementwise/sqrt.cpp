#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = sqrt(x[i])
struct Sqrt : Elementwise<Fn::Sqrt> {
  static constexpr std::string_view name = "sqrt";
  static constexpr std::string_view onnx[] = {"Sqrt"};
};

}  // namespace regraft::ops
REGRAFT_DEFINE(sqrt, Sqrt)

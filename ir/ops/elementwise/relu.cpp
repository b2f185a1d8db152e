#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = max(x[i], 0)
struct Relu : Elementwise<Fn::Relu> {
  static constexpr std::string_view name = "relu";
  static constexpr std::string_view onnx[] = {"Relu"};
};

}  // namespace regraft::ops
REGRAFT_DEFINE(relu, Relu)

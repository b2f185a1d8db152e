#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = tanh(x[i])
struct Tanh : Elementwise<Fn::Tanh> {
  static constexpr std::string_view name = "tanh";
  static constexpr std::string_view onnx[] = {"Tanh"};
};

}  // namespace regraft::ops
REGRAFT_DEFINE(tanh, Tanh)

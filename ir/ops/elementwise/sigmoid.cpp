#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = 1 / (1 + exp(-x[i]))
struct Sigmoid : Elementwise<Fn::Sigmoid> {
  static constexpr std::string_view name = "sigmoid";
  static constexpr std::string_view onnx[] = {"Sigmoid"};
};

}  // namespace regraft::ops
REGRAFT_DEFINE(sigmoid, Sigmoid)

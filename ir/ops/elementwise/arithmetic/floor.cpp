#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = the largest integer that is at most x[i]
struct Floor : Elementwise<Fn::Floor> {
  static constexpr std::string_view name = "floor";
  static constexpr std::string_view onnx[] = {"Floor"};
};

}  // namespace regraft::ops
REGRAFT_DEFINE(floor, Floor)

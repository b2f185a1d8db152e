#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = 1 / x[i]
struct Reciprocal : Elementwise<Fn::Recip> {
  static constexpr std::string_view name = "reciprocal";
  static constexpr std::string_view onnx[] = {"Reciprocal"};
};

}  // namespace regraft::ops
REGRAFT_DEFINE(reciprocal, Reciprocal)

#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = exp(x[i])
struct Exp : Elementwise<Fn::Exp> {
  static constexpr std::string_view name = "exp";
  static constexpr std::string_view onnx[] = {"Exp"};
};

}  // namespace regraft::ops
REGRAFT_DEFINE(exp, Exp)

#include "ir/ops/elementwise.h"

namespace regraft::ops {

// out[i] = erf(x[i])
struct Erf : Elementwise<Fn::Erf> {
  static constexpr std::string_view name = "erf";
  static constexpr std::string_view onnx[] = {"Erf"};
};

}  // namespace regraft::ops
REGRAFT_DEFINE(erf, Erf)

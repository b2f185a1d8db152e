#include "ir/ops/elementwise/activations/gelu.h"
#include "ir/ops/onnxruntime/biased.h"

namespace regraft::ops {

// out[i] = y * (1 + erf(y / sqrt(2))) / 2 with y = x[i] + bias[last of i].
// Source: com.microsoft.BiasGelu.
struct BiasGelu : Biased {
  static constexpr std::string_view name = "bias-gelu";
  static constexpr std::string_view onnx[] = {"com.microsoft:BiasGelu"};
  OP_ELEMENT { return gelu_of(alg, sum(alg, in, i)); }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(bias_gelu, BiasGelu)

#include "ir/ops/elementwise/activations/gelu.h"
#include "ir/ops/onnxruntime/biased.h"

namespace regraft::ops {

// out[i] = y * (1 + tanh(sqrt(2 / pi) * (y + 0.044715 * y^3))) / 2 with y = x[i] + bias[last of i].
// Source: com.microsoft.FastGelu with a bias.
struct BiasGeluTanh : Biased {
  static constexpr std::string_view name = "bias-gelu-tanh";
  static constexpr std::string_view onnx[] = {"com.microsoft:FastGelu"};
  OP_ELEMENT { return gelu_tanh_of(alg, sum(alg, in, i)); }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(bias_gelu_tanh, BiasGeluTanh)

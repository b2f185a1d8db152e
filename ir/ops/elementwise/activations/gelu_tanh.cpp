#include "ir/ops/elementwise/activations/gelu.h"

namespace regraft::ops {

// out[i] = x[i] * (1 + tanh(sqrt(2 / pi) * (x[i] + 0.044715 * x[i]^3))) / 2
struct GeluTanh : GeluForm {
  static constexpr std::string_view name = "gelu-tanh";
  static constexpr std::string_view onnx[] = {"Gelu"};
  static constexpr std::string_view mode = "tanh";
  static constexpr double kScale = double{0.79788456080286535588F};  // sqrt(2 / pi)
  OP_ELEMENT {
    auto x = alg.read(in[0], i);
    auto cubic = x + alg.real({double{0.044715F}, nullptr}) * (x * x * x);
    return half_of(alg, x, alg.apply(Fn::Tanh, alg.real({kScale, nullptr}) * cubic));
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) { return import(n, mode); }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>&, const std::vector<TensorType>&, int) {
    return write(mode);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(gelu_tanh, GeluTanh)

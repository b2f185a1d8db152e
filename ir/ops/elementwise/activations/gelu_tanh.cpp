#include "ir/ops/elementwise/activations/gelu.h"

namespace regraft::ops {

// out[i] = x[i] * (1 + tanh(sqrt(2 / pi) * (x[i] + 0.044715 * x[i]^3))) / 2
struct GeluTanh : GeluForm {
  static constexpr std::string_view name = "gelu-tanh";
  static constexpr std::string_view onnx[] = {"Gelu", "com.microsoft:FastGelu"};
  static constexpr std::string_view mode = "tanh";
  OP_ELEMENT { return gelu_tanh_of(alg, alg.read(in[0], i)); }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) { return import(n, mode, onnx[1]); }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>&, const std::vector<TensorType>& in,
                                    Opset opset) {
    if (opset.version < 20 && in[0].shape->empty()) return error("FastGelu wants an axis");
    return write(mode, onnx[1], opset);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(gelu_tanh, GeluTanh)

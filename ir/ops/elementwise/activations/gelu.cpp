#include "ir/ops/elementwise/activations/gelu.h"

namespace regraft::ops {

// out[i] = x[i] * (1 + erf(x[i] / sqrt(2))) / 2
struct Gelu : GeluForm {
  static constexpr std::string_view name = "gelu";
  static constexpr std::string_view onnx[] = {"Gelu", "com.microsoft:Gelu"};
  static constexpr std::string_view mode = "none";
  OP_ELEMENT { return gelu_of(alg, alg.read(in[0], i)); }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) { return import(n, mode, onnx[1]); }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>&, const std::vector<TensorType>&,
                                    Opset opset) {
    return write(mode, onnx[1], opset);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(gelu, Gelu)

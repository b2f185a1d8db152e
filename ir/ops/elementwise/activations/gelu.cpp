#include "ir/ops/elementwise/activations/gelu.h"

namespace regraft::ops {

// out[i] = x[i] * (1 + erf(x[i] / sqrt(2))) / 2
struct Gelu : GeluForm {
  static constexpr std::string_view name = "gelu";
  static constexpr std::string_view onnx[] = {"Gelu"};
  static constexpr std::string_view mode = "none";
  static constexpr double kRootOfTwo = double{1.41421356237309504880F};
  OP_ELEMENT {
    auto x = alg.read(in[0], i);
    auto wide = x * alg.apply(Fn::Recip, alg.real({kRootOfTwo, nullptr}));
    return half_of(alg, x, alg.apply(Fn::Erf, wide));
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) { return import(n, mode); }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>&, const std::vector<TensorType>&, int) {
    return write(mode);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(gelu, Gelu)

#include "ir/ops/layers/layernorm.h"

namespace regraft::ops {

// Layer normalisation with all outputs of ONNX's: out 0 as of `layernorm`; out 1 the mean and out 2
// 1 / sqrt(variance + epsilon), whose axes from `axis` on have size 1
struct LayerNormMoments : LayerNorm {
  static constexpr std::string_view name = "layernorm-moments";
  static constexpr Fusion fusion = Fusion::Alone;
  static constexpr int outputs = 3;
  static constexpr TypeSupport types[] = {{DType::F32, 17, 17}};  // others have moments of float32
  OP_SHAPES {
    ASSIGN_OR_RETURN(Shapes<A> whole, LayerNorm::infer(alg, in, at));
    auto one = whole[0];
    int rank = static_cast<int>(one.size());
    for (int d = axis_of(fixed(at.ints[0][0]), rank); d < rank; ++d)
      one[static_cast<size_t>(d)] = typename A::Index(1);
    return Shapes<A>{whole[0], one, one};
  }
  OP_IN_ROW {
    if (out == 0) return LayerNorm::in_row(alg, row, in, at, i, 0);
    return out == 1 ? row.mean : row.scale;
  }
  OP_ELEMENT_IN_ROW
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    if (n.inputs.empty() || n.inputs[0].type.dtype != DType::F32) return std::nullopt;
    auto r = import(n);
    if (r) r->results = {0, 1, 2};
    return r;
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    ASSIGN_OR_RETURN(OnnxExport r, LayerNorm::to_onnx(at, in, opset));
    r.results = {0, 1, 2};
    return r;
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(layernorm_moments, LayerNormMoments)

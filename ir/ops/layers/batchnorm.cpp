#include "ir/ops/define.h"

namespace regraft::ops {

// out[n, c, ..] = (x[n, c, ..] - mean[c]) / sqrt(var[c] + epsilon) * scale[c] + bias[c]
// operands: x, scale, bias, mean, var
struct BatchNorm {
  static constexpr std::string_view name = "batchnorm";
  static constexpr std::string_view onnx[] = {"BatchNormalization"};
  static constexpr Fusion fusion = Fusion::Pointwise;
  static constexpr bool channel_affine = true;
  static constexpr int arity = 5;
  static constexpr RealAttr reals[] = {{"epsilon", double{1e-5F}}};
  static constexpr TypeSupport types[] = {
      {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, 1}, {DType::BF16, 14, kNever}};
  OP_SHAPES {
    if (in[0].size() < 2) return error("batchnorm: no channel axis");
    for (size_t k = 1; k < 5; ++k) {
      if (in[k].size() != 1)
        return error("batchnorm: operand " + std::to_string(k) + " is not a vector");
      alg.require(in[k][0] == in[0][1]);
    }
    return Shapes<A>{in[0]};
  }
  OP_ELEMENT {
    auto c = i.subspan(1, 1);
    auto deviation = alg.apply(Fn::Sqrt, alg.read(in[4], c) + alg.real(at.reals[0]));
    return minus(alg, alg.read(in[0], i), alg.read(in[3], c)) * alg.apply(Fn::Recip, deviation) *
               alg.read(in[1], c) +
           alg.read(in[2], c);
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    if (n.inputs.size() != 5 || n.integer("training_mode", 0) != 0 ||
        n.integer("spatial", 1) != 1 || n.outputs != 1)
      return std::nullopt;
    return OnnxImport{{{}, {{n.real("epsilon", reals[0].fallback), nullptr}}}, {0, 1, 2, 3, 4}};
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3, 2, 2}, {3}, {3}, {3}, {3}}, {{}, {{0.0078125, nullptr}}}},
            {{{2, 3}, {3}, {3}, {3}, {3}}, {{}, {{1, nullptr}}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(batchnorm, BatchNorm)

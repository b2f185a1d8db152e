#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = x[i], or alpha * (exp(x[i] / alpha) - 1) where it is negative; alpha > 0
struct Celu : Elementwise<Fn::Relu> {
  static constexpr std::string_view name = "celu";
  static constexpr std::string_view onnx[] = {"Celu"};
  static constexpr TypeSupport types[] = {{DType::F32, 12, 12},
                                          {DType::F16, 28, kNever},
                                          {DType::F64, 28, kNever},
                                          {DType::BF16, 28, kNever}};
  static constexpr RealAttr reals[] = {{"alpha", 1}};
  OP_ELEMENT {
    auto x = alg.read(in[0], i), alpha = alg.real(at.reals[0]);
    auto bent = falling(alg, x * alg.apply(Fn::Recip, alpha));
    return alg.apply(Fn::Relu, x) + alpha * bent;
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    if (!(n.real("alpha", 1) > 0)) return std::nullopt;
    return import_by_name(define<Celu>(), n);
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    if (!(at.reals[0].value > 0)) return error("Celu needs alpha > 0");
    return export_by_name(define<Celu>(), at, in, opset);
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}}, {{}, {{0.5, nullptr}}}}, {{{5}}, {{}, {{1.25, nullptr}}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(celu, Celu)

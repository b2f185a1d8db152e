#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = x[i] * sigmoid(alpha * x[i])
struct Swish : Elementwise<Fn::Relu> {
  static constexpr std::string_view name = "swish";
  static constexpr std::string_view onnx[] = {"Swish", "com.microsoft:QuickGelu"};
  static constexpr TypeSupport types[] = {{DType::F32, 24, kNever},
                                          {DType::F16, 24, kNever},
                                          {DType::F64, 24, kNever},
                                          {DType::BF16, 24, kNever}};
  static constexpr DType microsoft[] = {DType::F32};
  static constexpr RealAttr reals[] = {{"alpha", 1}};
  OP_ELEMENT {
    auto x = alg.read(in[0], i);
    return x * alg.apply(Fn::Sigmoid, alg.real(at.reals[0]) * x);
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    double fallback = n.type == onnx[0] ? 1 : double{1.702F};
    return OnnxImport{{{}, {{n.real("alpha", fallback), nullptr}}}, {0}};
  }
  // onnxruntime has the second alone.
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    Opset opset) {
    ASSIGN_OR_RETURN(OnnxExport r, export_by_name(define<Swish>(), at, in, opset));
    if (opset.microsoft && in[0].dtype == DType::F32) r.type = onnx[1];
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}}, {{}, {{0.5, nullptr}}}}, {{{5}}, {{}, {{1, nullptr}}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(swish, Swish)

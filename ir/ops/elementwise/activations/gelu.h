#pragma once
// What the two forms of Gelu share. Their constants are float32's, as models that write it out have
// them: then both are equal as real numbers. So float64, which would see the difference, has none.
#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

/// x * (1 + y) / 2
template <Algebra A, class S = typename A::Scalar>
S half_of(A& alg, const S& x, const S& y) {
  return alg.constant(1, 2) * x * (alg.constant(1) + y);
}

/// x * (1 + erf(x / sqrt(2))) / 2
template <Algebra A, class S = typename A::Scalar>
S gelu_of(A& alg, const S& x) {
  constexpr double kRootOfTwo = double{1.41421356237309504880F};
  return half_of(alg, x,
                 alg.apply(Fn::Erf, x * alg.apply(Fn::Recip, alg.real({kRootOfTwo, nullptr}))));
}
/// x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2
template <Algebra A, class S = typename A::Scalar>
S gelu_tanh_of(A& alg, const S& x) {
  constexpr double kScale = double{0.79788456080286535588F};  // sqrt(2 / pi)
  auto cubic = x + alg.real({double{0.044715F}, nullptr}) * (x * x * x);
  return half_of(alg, x, alg.apply(Fn::Tanh, alg.real({kScale, nullptr}) * cubic));
}

struct GeluForm : Elementwise<Fn::Erf> {
  static constexpr TypeSupport types[] = {
      {DType::F32, 20, 20}, {DType::F16, 20, 20}, {DType::BF16, 20, kNever}};
  static constexpr DType microsoft[] = {DType::F32};
  /// The standard's form of that mode, or the runtime's own without a bias.
  static std::optional<OnnxImport> import(const OnnxNode& n, std::string_view mode,
                                          std::string_view own) {
    if (n.inputs[0].type.dtype == DType::F64) return std::nullopt;
    bool biased = n.inputs.size() > 1 && n.inputs[1].present;
    bool fits = n.type == own ? !biased : n.type == "Gelu" && n.text("approximate", "none") == mode;
    return fits ? std::optional(OnnxImport{{}, {0}}) : std::nullopt;
  }
  static Result<OnnxExport> write(std::string_view mode, std::string_view own, Opset opset) {
    OnnxExport r;
    r.inputs = operand_inputs(1);
    r.type = opset.version < 20 ? own : "Gelu";
    if (opset.version >= 20) r.attrs["approximate"] = text_attr(std::string(mode));
    return r;
  }
};

}  // namespace regraft::ops

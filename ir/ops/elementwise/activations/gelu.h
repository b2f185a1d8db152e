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

struct GeluForm : Elementwise<Fn::Erf> {
  static constexpr TypeSupport types[] = {
      {DType::F32, 20, 20}, {DType::F16, 20, 20}, {DType::BF16, 20, kNever}};
  static std::optional<OnnxImport> import(const OnnxNode& n, std::string_view mode) {
    bool fits = n.inputs[0].type.dtype != DType::F64 && n.text("approximate", "none") == mode;
    return fits ? std::optional(OnnxImport{{}, {0}}) : std::nullopt;
  }
  static Result<OnnxExport> write(std::string_view mode) {
    OnnxExport r;
    r.type = "Gelu";
    r.attrs["approximate"] = text_attr(std::string(mode));
    r.inputs = operand_inputs(1);
    return r;
  }
};

}  // namespace regraft::ops

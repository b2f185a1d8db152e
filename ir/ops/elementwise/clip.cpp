#include <limits>

#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = min(max(x[i], min), max)
struct Clip : Elementwise<Fn::Relu> {
  static constexpr std::string_view name = "clip";
  static constexpr std::string_view onnx[] = {"Clip"};
  static constexpr double kFloatMax = std::numeric_limits<float>::max();
  static constexpr RealAttr reals[] = {{"min", -kFloatMax}, {"max", kFloatMax}};
  static constexpr TypeSupport types[] = {
      {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, 12}, {DType::BF16, 13, kNever}};
  /// What a bound that is left out is. No 16-bit number exceeds float32's.
  static double largest(DType type) {
    return type == DType::F64 ? std::numeric_limits<double>::max() : kFloatMax;
  }
  OP_ELEMENT { return alg.clip(alg.read(in[0], i), at.reals[0], at.reals[1]); }

  // The bounds became inputs in opset 11; before that, one that is left out is float32's largest.
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    double most = n.opset < 11 ? kFloatMax : largest(n.inputs[0].type.dtype);
    double bounds[2] = {n.real("min", -most), n.real("max", most)};
    for (size_t k = 1; k < n.inputs.size(); ++k) {
      if (!n.inputs[k].present) continue;
      auto value = n.constant_real(k);
      if (!value || k > 2) return std::nullopt;
      bounds[k - 1] = *value;
    }
    if (!(bounds[0] <= bounds[1])) return std::nullopt;
    return OnnxImport{{{}, {{bounds[0], nullptr}, {bounds[1], nullptr}}}, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    OnnxExport r;
    r.type = "Clip";
    r.inputs = operand_inputs(1);
    double none[2] = {-largest(in[0].dtype), largest(in[0].dtype)};
    for (size_t k = 0; k < 2; ++k) {
      double bound = at.reals[k].value;
      if (opset < 11) {
        r.attrs[std::string(reals[k].name)].floats = {bound};
      } else if (bound == none[k]) {
        r.inputs.push_back({});
      } else {
        ASSIGN_OR_RETURN(auto input, real_input(reals[k].name, bound, in[0].dtype));
        r.inputs.push_back(std::move(input));
      }
    }
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}}, {{}, {{-0.5, nullptr}, {0.5, nullptr}}}},
            {{{4}}, {{}, {{0, nullptr}, {6, nullptr}}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(clip, Clip)

#include <limits>

#include "ir/ops/elementwise.h"

namespace regraft::ops {

// out[i] = min(max(x[i], min), max)
struct Clip : Elementwise<Fn::Relu> {
  static constexpr std::string_view name = "clip";
  static constexpr std::string_view onnx[] = {"Clip"};
  static constexpr RealAttr reals[] = {{"min", std::numeric_limits<float>::lowest()},
                                       {"max", std::numeric_limits<float>::max()}};
  OP_ELEMENT { return alg.clip(alg.read(in[0], i), at.reals[0], at.reals[1]); }

  // The bounds became inputs in opset 11.
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    double bounds[2] = {n.real("min", reals[0].fallback), n.real("max", reals[1].fallback)};
    for (size_t k = 1; k < n.inputs.size(); ++k) {
      if (!n.inputs[k].present) continue;
      auto value = n.constant_real(k);
      if (!value || k > 2) return std::nullopt;
      bounds[k - 1] = *value;
    }
    if (!(bounds[0] <= bounds[1])) return std::nullopt;
    return OnnxImport{{{}, {{bounds[0], nullptr}, {bounds[1], nullptr}}}, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&,
                                    int opset) {
    OnnxExport r;
    r.type = "Clip";
    r.inputs = operand_inputs(1);
    r.real_constants_as_operand0 = true;
    for (size_t k = 0; k < 2; ++k) {
      if (opset >= 11) {
        r.inputs.push_back(real_input(at.reals[k].value));
      } else {
        r.attrs[std::string(reals[k].name)].floats = {at.reals[k].value};
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

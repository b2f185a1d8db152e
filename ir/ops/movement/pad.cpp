#include "ir/ops/movement/pads.h"

namespace regraft::ops {

// out[i] = x[i - begins] inside x, else value; also puts a kernel into a larger one
struct Pad {
  static constexpr std::string_view name = "pad";
  static constexpr std::string_view onnx[] = {"Pad"};
  static constexpr Work work = Work::Movement;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {
      {"pads", Length::TwiceRank, std::nullopt, false, IntKind::Offset}};  // begins, then ends
  static constexpr RealAttr reals[] = {{"value", 0}};
  OP_SHAPES {
    auto out = in[0];
    using I = typename A::Index;
    for (size_t d = 0; d < out.size(); ++d) {
      const auto &begin = at.ints[0][d], &end = at.ints[0][d + out.size()];
      alg.require(I(0) <= begin);
      alg.require(I(0) <= end);
      out[d] = out[d] + begin + end;
    }
    return Shapes<A>{out};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    Indices<I> from;
    auto inside = I(0) <= I(0);
    for (size_t d = 0; d < i.size(); ++d) {
      from.push_back(i[d] - at.ints[0][d]);
      inside = inside && I(0) <= from[static_cast<int>(d)] &&
               from[static_cast<int>(d)] < in[0].dim(static_cast<int>(d));
    }
    return alg.select(
        inside, [&] { return alg.read(in[0], from); }, [&] { return alg.real(at.reals[0]); });
  }
  // The value is an attribute before opset 11, then an input.
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    if (n.text("mode", "constant") != "constant") return std::nullopt;
    auto pads = onnx_pads(n);
    double value = n.real("value", 0);
    if (n.inputs.size() > 2 && n.inputs[2].present) {
      auto v = n.constant_real(2);
      if (!v) return std::nullopt;
      value = *v;
    }
    if (!pads) return std::nullopt;
    return OnnxImport{{{*pads}, {{value, nullptr}}}, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    OnnxExport r;
    r.type = "Pad";
    r.attrs["mode"] = text_attr("constant");
    r.inputs = operand_inputs(1);
    RETURN_IF_ERROR(write_pads(at.ints[0], opset, r));
    if (opset >= 11) {
      ASSIGN_OR_RETURN(auto value, real_input("value", at.reals[0].value, in[0].dtype));
      r.inputs.push_back(std::move(value));
    } else {
      r.attrs["value"].floats = {at.reals[0].value};
    }
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}}, {{{1, 0, 0, 2}}, {{0, nullptr}}}}, {{{2}}, {{{1, 1}}, {{2.5, nullptr}}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(pad, Pad)

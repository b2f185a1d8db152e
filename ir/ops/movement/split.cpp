#include "ir/ops/define.h"

namespace regraft::ops {

// out_o[i] = x[i + (sizes before o) on the axis]
struct Split {
  static constexpr std::string_view name = "split";
  static constexpr std::string_view onnx[] = {"Split"};
  static constexpr Work work = Work::Movement;
  static constexpr std::span<const TypeSupport> types = kMovement;
  static constexpr auto typed = &one_type;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"axis", Length::One, 0, true, IntKind::Axis},
                                     {"sizes", Length::Any, std::nullopt}};
  static constexpr int outputs_attr = 1;
  OP_SHAPES {
    using I = typename A::Index;
    int rank = static_cast<int>(in[0].size());
    if (!axis_fits(fixed(at.ints[0][0]), rank)) return error("split: no such axis");
    if (at.ints[1].empty()) return error("split: no parts");
    auto axis = static_cast<size_t>(axis_of(fixed(at.ints[0][0]), rank));
    Shapes<A> out;
    I total(0);
    for (const auto& size : at.ints[1]) {
      alg.require(I(1) <= size);
      total = total + size;
      out.push_back(in[0]);
      out.back()[axis] = size;
    }
    alg.require(total == in[0][axis]);
    return out;
  }
  OP_ELEMENT {
    int axis = axis_of(fixed(at.ints[0][0]), in[0].rank());
    typename A::Index begin = i[static_cast<size_t>(axis)];
    for (size_t k = 0; k < static_cast<size_t>(out); ++k) begin = begin + at.ints[1][k];
    return alg.read(in[0], with(i, axis, begin));
  }
  // Sizes: attribute `split`, since opset 13 an input; without them equal parts (opset 18:
  // num_outputs).
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    auto rank = rank_of(n, 0);
    int64_t axis = n.integer("axis", 0);
    if (!rank || !axis_fits(axis, *rank)) return std::nullopt;
    const Poly& size = (*n.inputs[0].type.shape)[static_cast<size_t>(axis_of(axis, *rank))];
    std::optional<std::vector<int64_t>> sizes = n.constant_ints(1);
    if (const auto* attr = n.ints("split")) sizes = *attr;
    if (!sizes) {
      bool given = n.inputs.size() > 1 && n.inputs[1].present;
      if (given || !size.is_constant() || n.outputs < 1) return std::nullopt;
      int64_t part = (size.constant() + n.outputs - 1) / n.outputs, left = size.constant();
      sizes.emplace();
      for (int k = 0; k < n.outputs; ++k, left -= part) sizes->push_back(std::min(part, left));
    }
    if (sizes->size() != static_cast<size_t>(n.outputs)) return std::nullopt;
    return OnnxImport{{{{Poly(axis)}, polys(*sizes)}, {}}, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&,
                                    int opset) {
    OnnxExport r;
    r.type = "Split";
    r.attrs["axis"] = int_attr(fixed(at.ints[0][0]));
    r.inputs = operand_inputs(1);
    ASSIGN_OR_RETURN(auto sizes, numbers("split sizes", at.ints[1]));
    if (opset >= 13)
      r.inputs.push_back(int_input(sizes));
    else
      r.attrs["split"] = ints_attr(sizes);
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{2, 5}}, {{{1}, {2, 3}}, {}}}, {{{6, 2}}, {{{-2}, {1, 2, 3}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(split, Split)

#include "ir/ops/define.h"

namespace regraft::ops {

// out[i] = x[i with indices[i] on the axis], for a constant table of the shape `shape`
struct GatherElements {
  static constexpr std::string_view name = "gather-elements";
  static constexpr std::string_view onnx[] = {"GatherElements"};
  static constexpr Work work = Work::Movement;
  static constexpr auto typed = &one_type;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"axis", Length::One, 0, true, IntKind::Axis},
                                     {"indices", Length::Any, std::nullopt, false, IntKind::Offset},
                                     {"shape", Length::Rank, std::nullopt, true}};
  static constexpr TypeSupport types[] = {
      {DType::F32, 11, 11}, {DType::F16, 11, 11}, {DType::F64, 11, 11}, {DType::BF16, 13, 13},
      {DType::I64, 11, 11}, {DType::I32, 11, 11}, {DType::Bool, 11, 11}};
  static constexpr int64_t kMaxIndices = 4096;  ///< longer tables stay data of an opaque node
  OP_SHAPES {
    using I = typename A::Index;
    const auto &x = in[0], &shape = at.ints[2];
    int rank = static_cast<int>(x.size());
    if (!axis_fits(fixed(at.ints[0][0]), rank)) return error("gather-elements: no such axis");
    auto axis = static_cast<size_t>(axis_of(fixed(at.ints[0][0]), rank));
    int64_t count = 1;
    for (size_t d = 0; d < shape.size(); ++d) {
      count *= fixed(shape[d]);
      if (d != axis) alg.require(shape[d] <= x[d]);
    }
    if (count != static_cast<int64_t>(at.ints[1].size()))
      return error("gather-elements: shape does not fit the indices");
    for (const auto& p : at.ints[1]) {
      alg.require(I(0) <= p);
      alg.require(p < x[axis]);
    }
    return Shapes<A>{shape};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    int axis = axis_of(fixed(at.ints[0][0]), in[0].rank());
    I flat(0);
    for (size_t d = 0; d < i.size(); ++d) flat = flat * at.ints[2][d] + i[d];
    return alg.read(in[0], with(i, axis, I(alg.lookup(at.ints[1], flat, in[0].dim(axis)))));
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    auto rank = rank_of(n, 0);
    int64_t axis = n.integer("axis", 0);
    if (!rank || !axis_fits(axis, *rank) || n.inputs.size() != 2 || !n.inputs[1].constant)
      return std::nullopt;
    int64_t count = n.inputs[1].constant->count();
    if (count > kMaxIndices || count < 1) return std::nullopt;
    auto indices = n.constant_ints(1);
    const Poly& size = (*n.inputs[0].type.shape)[static_cast<size_t>(axis_of(axis, *rank))];
    if (!indices || !size.is_constant()) return std::nullopt;
    for (int64_t& p : *indices)
      if (p < 0) p += size.constant();
    return OnnxImport{{{{Poly(axis)}, polys(*indices), polys(n.inputs[1].constant->dims())}, {}},
                      {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&, int) {
    ASSIGN_OR_RETURN(auto indices, numbers("indices", at.ints[1]));
    ASSIGN_OR_RETURN(auto shape, numbers("shape", at.ints[2]));
    OnnxExport r;
    r.type = "GatherElements";
    r.attrs["axis"] = int_attr(fixed(at.ints[0][0]));
    r.inputs = operand_inputs(1);
    r.inputs.push_back({std::nullopt, Constant::of_ints(shape, indices)});
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{4, 3}}, {{{0}, {2, 0, 3, 1, 1, 0}, {2, 3}}, {}}},
            {{{2, 4}}, {{{-1}, {0, 3, 2}, {1, 3}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(gather_elements, GatherElements)

#include "ir/ops/indexing/at_run_time.h"

namespace regraft::ops {

// out[i] = x[i with t[i] on the axis]: a GatherElements whose indices t are an operand, integers
// from -n to n - 1 where n is the size of the axis. Operands: x, t.
struct GatherElementsAt {
  static constexpr std::string_view name = "gather-elements-at";
  static constexpr std::string_view onnx[] = {"GatherElements"};
  static constexpr Work work = Work::Movement;
  static constexpr TypeSupport types[] = {
      {DType::F32, 11, 11}, {DType::F16, 11, 11}, {DType::F64, 11, 11}, {DType::BF16, 13, 13},
      {DType::I64, 11, 11}, {DType::I32, 11, 11}, {DType::Bool, 11, 11}};
  static constexpr auto typed = &indexed_type;
  static constexpr int arity = 2;
  static constexpr IntAttr ints[] = {{"axis", Length::One, 0, true, IntKind::Axis}};
  OP_SHAPES {
    const auto &x = in[0], &t = in[1];
    int rank = static_cast<int>(x.size());
    if (!axis_fits(fixed(at.ints[0][0]), rank)) return error("gather-elements-at: no such axis");
    if (t.size() != x.size()) return error("gather-elements-at: ranks do not fit");
    int axis = axis_of(fixed(at.ints[0][0]), rank);
    for (int d = 0; d < rank; ++d)
      if (d != axis) alg.require(t[static_cast<size_t>(d)] <= x[static_cast<size_t>(d)]);
    return Shapes<A>{t};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    int axis = axis_of(fixed(at.ints[0][0]), in[0].rank());
    Indices<I> from(i);
    return element_at(alg, alg.read(in[1], i), in[0].dim(axis), [&](const I& p) {
      from[axis] = p;
      return alg.read(in[0], from);
    });
  }
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
                    std::span<double> out) {
    const auto& x = in[0];
    auto axis = static_cast<size_t>(axis_of(at.ints[0][0], x.rank()));
    for (size_t k = 0; k < out.size(); ++k) {
      int64_t rest = static_cast<int64_t>(k), offset = 0,
              place = index_of(in[1].data[k], x.dims[axis]);
      for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
        offset += (d == axis ? place : rest % shape[d]) * x.strides[d];
      out[k] = place < 0 ? 0 : x.data[offset];
    }
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    if (n.inputs.size() != 2) return std::nullopt;
    return OnnxImport{{{{Poly(n.integer("axis", 0))}}, {}}, {0, 1}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    RETURN_IF_ERROR(check_indices(in[1], "GatherElements"));
    return export_by_name(define<GatherElementsAt>(), at, in, opset);
  }
  static std::vector<Sample> samples() {
    return {{{{4, 3}, {2, 3}}, {{{0}}, {}}}, {{{2, 3}, {1, 2}}, {{{-1}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(gather_elements_at, GatherElementsAt)

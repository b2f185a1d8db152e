#include "ir/ops/indexing/at_run_time.h"

namespace regraft::ops {

// out[a.., j.., b..] = x[a.., t[j..], b..] on the axis: a Gather whose indices t are an operand,
// integers from -n to n - 1 where n is the size of the axis. Operands: x, t.
struct GatherAt {
  static constexpr std::string_view name = "gather-at";
  static constexpr std::string_view onnx[] = {"Gather"};
  static constexpr Work work = Work::Movement;
  static constexpr std::span<const TypeSupport> types = kMovement;
  static constexpr auto typed = &indexed_type;
  static constexpr int arity = 2;
  static constexpr IntAttr ints[] = {{"axis", Length::One, 0, true, IntKind::Axis}};
  OP_SHAPES {
    const auto &x = in[0], &t = in[1];
    int rank = static_cast<int>(x.size());
    if (!axis_fits(fixed(at.ints[0][0]), rank)) return error("gather-at: no such axis");
    if (x.size() - 1 + t.size() > kMaxRank) return error("gather-at: rank too high");
    int axis = axis_of(fixed(at.ints[0][0]), rank);
    auto out = x;
    out.erase(out.begin() + axis);
    out.insert(out.begin() + axis, t.begin(), t.end());
    return Shapes<A>{out};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    const auto &x = in[0], &t = in[1];
    int axis = axis_of(fixed(at.ints[0][0]), x.rank());
    auto first = static_cast<size_t>(axis), count = static_cast<size_t>(t.rank());
    auto index = alg.read(t, i.subspan(first, count));
    Indices<I> from(i.first(first));
    from.push_back(I(0));
    for (const I& p : i.subspan(first + count)) from.push_back(p);
    return element_at(alg, index, x.dim(axis), [&](const I& p) {
      from[axis] = p;
      return alg.read(x, from);
    });
  }
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t>,
                    std::span<double> out) {
    const auto &x = in[0], &t = in[1];
    auto axis = static_cast<size_t>(axis_of(at.ints[0][0], x.rank()));
    int64_t size = x.dims[axis], step = x.strides[axis], many = 1;
    for (int d = 0; d < t.rank(); ++d) many *= t.dim(d);
    for (size_t k = 0; k < out.size(); ++k) {
      auto flat = static_cast<int64_t>(k);
      int64_t place = index_of(t.data[flat / step % many], size);
      out[k] = place < 0 ? 0 : x.data[(flat / step / many * size + place) * step + flat % step];
    }
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    if (n.inputs.size() != 2) return std::nullopt;
    return OnnxImport{{{{Poly(n.integer("axis", 0))}}, {}}, {0, 1}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    RETURN_IF_ERROR(check_indices(in[1], "Gather"));
    return export_by_name(define<GatherAt>(), at, in, opset);
  }
  static std::vector<Sample> samples() {
    return {
        {{{4, 3}, {2}}, {{{0}}, {}}}, {{{2, 3}, {2, 2}}, {{{-1}}, {}}}, {{{3}, {}}, {{{0}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(gather_at, GatherAt)

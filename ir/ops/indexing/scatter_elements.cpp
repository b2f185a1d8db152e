#include <set>

#include "ir/ops/indexing/scatter.h"

namespace regraft::ops {

// out[i] = updates[i with k on the axis] where indices[i with k on the axis] is i's position there,
// x[i] where no k is such; with add = 1 the sum of x[i] and all such updates. `indices` is a
// constant table of the shape `shape`, that of the updates. Operands: x, updates.
struct ScatterElements : Scattering<ScatterElements> {
  static constexpr std::string_view name = "scatter-elements";
  static constexpr std::string_view onnx[] = {"ScatterElements"};
  static constexpr IntAttr ints[] = {{"axis", Length::One, 0, true, IntKind::Axis},
                                     {"indices", Length::Any, std::nullopt, true, IntKind::Offset},
                                     {"shape", Length::Rank, std::nullopt, true},
                                     {"add", Length::One, 0, true}};
  template <class I>
  static bool adds(const Attrs<I>& at) {
    return fixed(at.ints[3][0]) != 0;
  }
  OP_SHAPES {
    using I = typename A::Index;
    const auto &x = in[0], &updates = in[1];
    int rank = static_cast<int>(x.size());
    if (updates.size() != x.size() || !axis_fits(fixed(at.ints[0][0]), rank))
      return error("scatter-elements: ranks, or the axis, do not fit");
    auto axis = static_cast<size_t>(axis_of(fixed(at.ints[0][0]), rank));
    int64_t count = 1;
    for (size_t d = 0; d < x.size(); ++d) {
      count *= fixed(at.ints[2][d]);
      alg.require(updates[d] == at.ints[2][d]);
      if (d != axis) alg.require(updates[d] <= x[d]);
    }
    if (count != static_cast<int64_t>(at.ints[1].size()))
      return error("scatter-elements: shape does not fit the indices");
    for (const I& p : at.ints[1]) alg.require(I(0) <= p && p < x[axis]);
    if (!adds(at)) RETURN_IF_ERROR(distinct(at.ints[2], axis, at.ints[1]));
    return Shapes<A>{x};
  }
  /// No index occurs twice on a line along the axis.
  template <class I>
  static Status distinct(const std::vector<I>& shape, size_t axis, const std::vector<I>& indices) {
    size_t step = 1, size = static_cast<size_t>(fixed(shape[axis]));
    for (size_t d = axis + 1; d < shape.size(); ++d) step *= static_cast<size_t>(fixed(shape[d]));
    std::set<std::pair<size_t, int64_t>> seen;  // line, index
    for (size_t k = 0; k < indices.size(); ++k)
      if (!seen.insert({k / (size * step) * step + k % step, fixed(indices[k])}).second)
        return error("scatter-elements: an index occurs twice");
    return {};
  }
  /// The sum over k of f(update k) where that goes to i, else 0.
  template <Algebra A, class F>
  static typename A::Scalar over_updates(A& alg, Tensors<A> in, const Attrs<typename A::Index>& at,
                                         Position<A> i, F&& f) {
    using I = typename A::Index;
    const auto& updates = in[1];
    int axis = axis_of(fixed(at.ints[0][0]), updates.rank());
    auto inside = I(0) <= I(0);
    for (int d = 0; d < updates.rank(); ++d)
      if (d != axis) inside = inside && i[static_cast<size_t>(d)] < updates.dim(d);
    Indices<I> from(i);
    auto zeros = [&] { return zero(alg); };
    return alg.select(
        inside,
        [&] {
          return alg.sum(updates.dim(axis), [&](const I& k) {
            from[axis] = k;
            I flat(0);
            for (int d = 0; d < updates.rank(); ++d)
              flat = flat * at.ints[2][static_cast<size_t>(d)] + from[d];
            I to = alg.lookup(at.ints[1], flat, in[0].dim(axis));
            return alg.select(
                to == i[static_cast<size_t>(axis)], [&] { return f(alg.read(updates, from)); },
                zeros);
          });
        },
        zeros);
  }
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t>,
                    std::span<double> out) {
    const auto &x = in[0], &updates = in[1];
    std::copy_n(x.data, out.size(), out.begin());
    auto axis = static_cast<size_t>(axis_of(at.ints[0][0], x.rank()));
    for (size_t k = 0; k < at.ints[1].size(); ++k) {
      int64_t offset = 0;
      for (size_t d = 0; d < static_cast<size_t>(x.rank()); ++d) {
        int64_t p = static_cast<int64_t>(k) / updates.strides[d] % updates.dims[d];
        offset += (d == axis ? at.ints[1][k] : p) * x.strides[d];
      }
      double& to = out[static_cast<size_t>(offset)];
      to = adds(at) ? to + updates.data[k] : updates.data[k];
    }
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    auto rank = rank_of(n, 0);
    int64_t axis = n.integer("axis", 0);
    auto reduction = n.text("reduction", "none");
    if (!rank || !axis_fits(axis, *rank) || n.inputs.size() != 3 || !n.inputs[1].constant ||
        (reduction != "none" && reduction != "add"))
      return std::nullopt;
    int64_t count = n.inputs[1].constant->count();
    if (count > kMaxIndices || count < 1) return std::nullopt;
    auto indices = n.constant_ints(1);
    const Poly& size = (*n.inputs[0].type.shape)[static_cast<size_t>(axis_of(axis, *rank))];
    if (!indices || !size.is_constant()) return std::nullopt;
    for (int64_t& p : *indices)
      if (p < 0) p += size.constant();
    auto shape = n.inputs[1].constant->dims();
    const auto& updates = n.inputs[2].type.shape;
    bool fits = updates && std::equal(updates->begin(), updates->end(), shape.begin(), shape.end(),
                                      [](const Poly& a, int64_t b) { return same(a, Poly(b)); });
    if (!fits) return std::nullopt;
    int64_t add = reduction == "add" ? 1 : 0;
    return OnnxImport{{{{Poly(axis)}, polys(*indices), polys(shape), {Poly(add)}}, {}}, {0, 2}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    ASSIGN_OR_RETURN(auto indices, numbers("indices", at.ints[1]));
    ASSIGN_OR_RETURN(auto shape, numbers("shape", at.ints[2]));
    if (adds(at) && opset < 16) return error("ScatterElements that adds needs opset 16");
    if (adds(at) && in[0].dtype == DType::F16)
      return error("ScatterElements that adds does not run on float16");
    OnnxExport r;
    r.type = "ScatterElements";
    r.attrs["axis"] = int_attr(fixed(at.ints[0][0]));
    if (adds(at)) r.attrs["reduction"] = text_attr("add");
    r.inputs = {{0, nullptr}, {std::nullopt, Constant::of_ints(shape, indices)}, {1, nullptr}};
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{4, 3}, {2, 3}}, {{{0}, {2, 0, 3, 1, 1, 0}, {2, 3}, {0}}, {}}},
            {{{2, 4}, {1, 3}}, {{{-1}, {0, 3, 0}, {1, 3}, {1}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(scatter_elements, ScatterElements)

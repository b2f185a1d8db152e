#include <set>

#include "ir/ops/indexing/scatter.h"

namespace regraft::ops {

// out[p.., r..] = updates[j.., r..] where indices[j..] is p.., x[p.., r..] where no j is such; with
// add = 1 the sum of x[p.., r..] and all such updates. `indices` is a constant table of the shape
// [j.., size of p], which is `depth`. Operands: x, updates.
struct ScatterNd : Scattering<ScatterNd> {
  static constexpr std::string_view name = "scatter-nd";
  static constexpr std::string_view onnx[] = {"ScatterND"};
  static constexpr IntAttr ints[] = {{"indices", Length::Any, std::nullopt, true, IntKind::Offset},
                                     {"depth", Length::One, std::nullopt, true},
                                     {"add", Length::One, 0, true}};
  template <class I>
  static bool adds(const Attrs<I>& at) {
    return fixed(at.ints[2][0]) != 0;
  }
  OP_SHAPES {
    using I = typename A::Index;
    const auto &x = in[0], &updates = in[1];
    int64_t depth = fixed(at.ints[1][0]);
    if (depth < 1 || depth > static_cast<int64_t>(x.size()))
      return error("scatter-nd: the data has too few axes");
    auto k = static_cast<size_t>(depth);
    size_t rest = x.size() - k;
    if (updates.size() < rest || at.ints[0].size() % k != 0)
      return error("scatter-nd: the updates do not fit the data");
    size_t front = updates.size() - rest;
    I rows(1);
    for (size_t d = 0; d < front; ++d) rows = rows * updates[d];
    for (size_t d = 0; d < rest; ++d) alg.require(updates[front + d] == x[k + d]);
    alg.require(rows == I(static_cast<int64_t>(at.ints[0].size() / k)));
    std::set<std::vector<int64_t>> seen;
    for (size_t p = 0; p < at.ints[0].size(); ++p) {
      alg.require(I(0) <= at.ints[0][p] && at.ints[0][p] < x[p % k]);
      if (p % k != 0 || adds(at)) continue;
      std::vector<int64_t> place;
      for (size_t d = 0; d < k; ++d) place.push_back(fixed(at.ints[0][p + d]));
      if (!seen.insert(place).second) return error("scatter-nd: a place occurs twice");
    }
    return Shapes<A>{x};
  }
  /// The sum over j of f(update j) where that goes to i, else 0.
  template <Algebra A, class F>
  static typename A::Scalar over_updates(A& alg, Tensors<A> in, const Attrs<typename A::Index>& at,
                                         Position<A> i, F&& f) {
    using I = typename A::Index;
    const auto& updates = in[1];
    int64_t depth = fixed(at.ints[1][0]);
    int front = updates.rank() - in[0].rank() + static_cast<int>(depth);
    Indices<I> extents;
    I bound(0);
    for (int d = 0; d < front; ++d) extents.push_back(updates.dim(d));
    for (int d = 0; d < depth; ++d) bound = bound + in[0].dim(d);
    return sum_over(alg, std::span<const I>(extents), [&](std::span<const I> j) {
      I row(0);
      Indices<I> from(j);
      for (int d = 0; d < front; ++d) row = row * updates.dim(d) + j[static_cast<size_t>(d)];
      for (const I& p : i.subspan(static_cast<size_t>(depth))) from.push_back(p);
      auto here = I(0) <= I(0);
      for (int64_t d = 0; d < depth; ++d)
        here = here &&
               alg.lookup(at.ints[0], row * I(depth) + I(d), bound) == i[static_cast<size_t>(d)];
      return alg.select(
          here, [&] { return f(alg.read(updates, from)); }, [&] { return zero(alg); });
    });
  }
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t>,
                    std::span<double> out) {
    const auto& x = in[0];
    std::copy_n(x.data, out.size(), out.begin());
    auto depth = static_cast<size_t>(at.ints[1][0]);
    auto size = static_cast<size_t>(x.strides[depth - 1]);  // of an update
    for (size_t row = 0; row < at.ints[0].size() / depth; ++row) {
      int64_t offset = 0;
      for (size_t d = 0; d < depth; ++d) offset += at.ints[0][row * depth + d] * x.strides[d];
      for (size_t k = 0; k < size; ++k) {
        double& to = out[static_cast<size_t>(offset) + k];
        to = (adds(at) ? to : 0) + in[1].data[row * size + k];
      }
    }
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    auto reduction = n.text("reduction", "none");
    if (!rank_of(n, 0) || n.inputs.size() != 3 || !n.inputs[1].constant ||
        (reduction != "none" && reduction != "add"))
      return std::nullopt;
    const Shape& x = *n.inputs[0].type.shape;
    auto shape = n.inputs[1].constant->dims();
    int64_t count = n.inputs[1].constant->count();
    if (count > kMaxIndices || count < 1 || shape.empty()) return std::nullopt;
    auto indices = n.constant_ints(1);
    if (!indices || shape.back() > static_cast<int64_t>(x.size())) return std::nullopt;
    for (size_t p = 0; p < indices->size(); ++p) {
      if ((*indices)[p] >= 0) continue;
      const Poly& size = x[p % static_cast<size_t>(shape.back())];
      if (!size.is_constant()) return std::nullopt;
      (*indices)[p] += size.constant();
    }
    return OnnxImport{
        {{polys(*indices), {Poly(shape.back())}, {Poly(reduction == "add" ? 1 : 0)}}, {}}, {0, 2}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    ASSIGN_OR_RETURN(auto indices, numbers("indices", at.ints[0]));
    int64_t depth = fixed(at.ints[1][0]);
    size_t front = in[1].shape->size() - in[0].shape->size() + static_cast<size_t>(depth);
    std::vector<Poly> rows(in[1].shape->begin(),
                           in[1].shape->begin() + static_cast<int64_t>(front));
    ASSIGN_OR_RETURN(auto shape, numbers("updates", rows));
    shape.push_back(depth);
    if (adds(at) && opset < 16) return error("ScatterND that adds needs opset 16");
    if (adds(at) && in[0].dtype == DType::F16)
      return error("ScatterND that adds does not run on float16");
    OnnxExport r;
    r.type = "ScatterND";
    if (adds(at)) r.attrs["reduction"] = text_attr("add");
    r.inputs = {{0, nullptr}, {std::nullopt, Constant::of_ints(shape, indices)}, {1, nullptr}};
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{4, 3}, {2, 3}}, {{{2, 0}, {1}, {0}}, {}}},
            {{{3, 2}, {3}}, {{{0, 1, 2, 0, 0, 1}, {2}, {1}}, {}}},
            {{{2, 3}, {1, 2}}, {{{0, 2, 1, 1}, {2}, {0}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(scatter_nd, ScatterNd)

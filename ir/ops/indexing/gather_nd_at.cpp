#include "ir/ops/indexing/at_run_time.h"

namespace regraft::ops {

// out[b.., j.., r..] = x[b.., t[b.., j.., 0], .., t[b.., j.., depth - 1], r..]: a GatherND whose
// indices t are an operand, integers from -n to n - 1 on an axis of size n. Operands: x, t.
struct GatherNdAt {
  static constexpr std::string_view name = "gather-nd-at";
  static constexpr std::string_view onnx[] = {"GatherND"};
  static constexpr Work work = Work::Movement;
  static constexpr TypeSupport types[] = {
      {DType::F32, 11, 11}, {DType::F16, 11, 11}, {DType::F64, 11, 11}, {DType::BF16, 13, 13},
      {DType::I64, 11, 11}, {DType::I32, 11, 11}, {DType::Bool, 11, 11}};
  static constexpr auto typed = &indexed_type;
  static constexpr int arity = 2;
  static constexpr IntAttr ints[] = {{"batch_dims", Length::One, 0, true},
                                     {"depth", Length::One, std::nullopt, true}};
  OP_SHAPES {
    using I = typename A::Index;
    const auto &x = in[0], &t = in[1];
    int64_t batch = fixed(at.ints[0][0]), depth = fixed(at.ints[1][0]);
    if (batch < 0 || batch >= static_cast<int64_t>(t.size()) || depth < 1 ||
        depth > static_cast<int64_t>(x.size()) - batch)
      return error("gather-nd-at: ranks do not fit");
    alg.require(t.back() == I(depth));
    for (size_t d = 0; d < static_cast<size_t>(batch); ++d) alg.require(t[d] == x[d]);
    ShapeOf<I> out(t.begin(), t.end() - 1);
    out.insert(out.end(), x.begin() + batch + depth, x.end());
    if (out.size() > kMaxRank) return error("gather-nd-at: rank too high");
    return Shapes<A>{out};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    const auto &x = in[0], &t = in[1];
    int batch = static_cast<int>(fixed(at.ints[0][0])),
        depth = static_cast<int>(fixed(at.ints[1][0]));
    auto front = static_cast<size_t>(t.rank()) - 1;
    Indices<I> from(i.first(static_cast<size_t>(batch))), row(i.first(front));
    row.push_back(I(0));
    for (int k = 0; k < depth; ++k) from.push_back(I(0));
    for (const I& p : i.subspan(front)) from.push_back(p);
    auto along = [&](auto& self, int k) -> typename A::Scalar {
      if (k == depth) return alg.read(x, from);
      row[t.rank() - 1] = I(k);
      return element_at(alg, alg.read(t, row), x.dim(batch + k), [&](const I& p) {
        from[batch + k] = p;
        return self(self, k + 1);
      });
    };
    return along(along, 0);
  }
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t>,
                    std::span<double> out) {
    const auto &x = in[0], &t = in[1];
    auto batch = static_cast<size_t>(at.ints[0][0]), depth = static_cast<size_t>(at.ints[1][0]);
    int64_t size = x.strides[batch + depth - 1], many = 1, rows = 1;  // of a piece; in a batch
    for (int d = 0; d + 1 < t.rank(); ++d) (d < at.ints[0][0] ? many : rows) *= t.dim(d);
    for (int64_t row = 0; row < many * rows; ++row) {
      int64_t offset = batch == 0 ? 0 : row / rows * x.strides[batch - 1];
      bool inside = true;
      for (size_t k = 0; k < depth; ++k) {
        int64_t place =
            index_of(t.data[row * at.ints[1][0] + static_cast<int64_t>(k)], x.dims[batch + k]);
        inside = inside && place >= 0;
        offset += place * x.strides[batch + k];
      }
      for (int64_t e = 0; e < size; ++e)
        out[static_cast<size_t>(row * size + e)] = inside ? x.data[offset + e] : 0;
    }
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    auto rank = rank_of(n, 1);
    if (n.inputs.size() != 2 || !rank || *rank < 1) return std::nullopt;
    const Poly& depth = n.inputs[1].type.shape->back();
    if (!depth.is_constant()) return std::nullopt;
    return OnnxImport{{{{Poly(n.integer("batch_dims", 0))}, {depth}}, {}}, {0, 1}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    if (in[1].dtype != DType::I64) return error("GatherND by indices of other types than int64");
    int64_t batch = fixed(at.ints[0][0]);
    if (batch > 0 && opset < 12) return error("GatherND of batches needs opset 12");
    OnnxExport r;
    r.type = "GatherND";
    if (batch > 0) r.attrs["batch_dims"] = int_attr(batch);
    r.inputs = operand_inputs(2);
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{3, 4}, {2, 2}}, {{{0}, {2}}, {}}},
            {{{3, 2, 2}, {2, 1}}, {{{0}, {1}}, {}}},
            {{{2, 3, 2}, {2, 2, 1}}, {{{1}, {1}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(gather_nd_at, GatherNdAt)

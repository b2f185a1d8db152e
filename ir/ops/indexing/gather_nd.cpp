#include "ir/ops/define.h"

namespace regraft::ops {

// out[b.., j.., r..] = x[b.., indices[b.., j.., 0], .., indices[b.., j.., K - 1], r..] for a
// constant table of the shape `shape`, [b.., j.., K], with `batch_dims` axes b. ONNX's Compress
// without an axis keeps the elements of the whole tensor for which a condition holds.
struct GatherNd {
  static constexpr std::string_view name = "gather-nd";
  static constexpr std::string_view onnx[] = {"GatherND", "Compress"};
  static constexpr Work work = Work::Movement;
  static constexpr auto typed = &one_type;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"batch_dims", Length::One, 0, true},
                                     {"indices", Length::Any, std::nullopt, false, IntKind::Offset},
                                     {"shape", Length::Any, std::nullopt, true}};
  static constexpr TypeSupport types[] = {
      {DType::F32, 11, 11}, {DType::F16, 11, 11}, {DType::F64, 11, 11}, {DType::BF16, 13, 13},
      {DType::I64, 11, 11}, {DType::I32, 11, 11}, {DType::Bool, 11, 11}};
  static constexpr int64_t kMaxIndices = 4096;  ///< longer tables stay data of an opaque node
  OP_SHAPES {
    using I = typename A::Index;
    const auto &x = in[0], &shape = at.ints[2];
    int64_t batch = fixed(at.ints[0][0]), count = 1;
    for (const auto& d : shape) count *= fixed(d);
    if (batch < 0 || shape.empty() || batch >= static_cast<int64_t>(shape.size()) ||
        count != static_cast<int64_t>(at.ints[1].size()))
      return error("gather-nd: shape does not fit the indices");
    auto b = static_cast<size_t>(batch);
    int64_t depth = fixed(shape.back());
    if (depth < 1 || depth > static_cast<int64_t>(x.size()) - batch)
      return error("gather-nd: the data has too few axes");
    auto k = static_cast<size_t>(depth);
    for (size_t d = 0; d < b; ++d) alg.require(shape[d] == x[d]);
    for (size_t p = 0; p < at.ints[1].size(); ++p) {
      alg.require(I(0) <= at.ints[1][p]);
      alg.require(at.ints[1][p] < x[b + p % k]);
    }
    ShapeOf<I> out(shape.begin(), shape.end() - 1);
    out.insert(out.end(), x.begin() + static_cast<int64_t>(b + k), x.end());
    if (out.size() > kMaxRank) return error("gather-nd: rank too high");
    return Shapes<A>{out};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    const auto& shape = at.ints[2];
    size_t front = shape.size() - 1, batch = static_cast<size_t>(fixed(at.ints[0][0]));
    int64_t depth = fixed(shape.back());
    I row(0), bound(0);
    for (size_t d = 0; d < front; ++d) row = row * shape[d] + i[d];
    for (int64_t k = 0; k < depth; ++k)
      bound = bound + in[0].dim(static_cast<int>(batch) + static_cast<int>(k));
    Indices<I> from(i.first(batch));
    for (int64_t k = 0; k < depth; ++k)
      from.push_back(alg.lookup(at.ints[1], row * I(depth) + I(k), bound));
    for (const I& p : i.subspan(front)) from.push_back(p);
    return alg.read(in[0], from);
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    if (!rank_of(n, 0) || n.inputs.size() != 2 || !n.inputs[1].constant) return std::nullopt;
    if (n.type == "Compress") return kept(n);
    const Shape& x = *n.inputs[0].type.shape;
    auto shape = n.inputs[1].constant->dims();
    int64_t batch = n.integer("batch_dims", 0), count = n.inputs[1].constant->count();
    if (count > kMaxIndices || count < 1 || shape.empty() || batch < 0) return std::nullopt;
    auto indices = n.constant_ints(1);
    if (!indices || batch + shape.back() > static_cast<int64_t>(x.size())) return std::nullopt;
    for (size_t p = 0; p < indices->size(); ++p) {
      if ((*indices)[p] >= 0) continue;
      const Poly& size = x[static_cast<size_t>(batch) + p % static_cast<size_t>(shape.back())];
      if (!size.is_constant()) return std::nullopt;
      (*indices)[p] += size.constant();
    }
    return OnnxImport{{{{Poly(batch)}, polys(*indices), polys(shape)}, {}}, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&,
                                    int opset) {
    ASSIGN_OR_RETURN(auto indices, numbers("indices", at.ints[1]));
    ASSIGN_OR_RETURN(auto shape, numbers("shape", at.ints[2]));
    int64_t batch = fixed(at.ints[0][0]);
    if (batch > 0 && opset < 12) return error("GatherND of batches needs opset 12");
    OnnxExport r;
    r.type = "GatherND";
    if (batch > 0) r.attrs["batch_dims"] = int_attr(batch);
    r.inputs = operand_inputs(1);
    r.inputs.push_back({std::nullopt, Constant::of_ints(shape, indices)});
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{3, 4}}, {{{0}, {0, 1, 2, 3, 1, 1}, {3, 2}}, {}}},
            {{{3, 2, 2}}, {{{0}, {2, 0}, {2, 1}}, {}}},
            {{{2, 3, 2}}, {{{1}, {2, 0, 1, 1}, {2, 2, 1}}, {}}}};
  }

 private:
  /// The positions, in order, of the elements that a condition keeps.
  static std::optional<OnnxImport> kept(const OnnxNode& n) {
    auto condition = n.constant_ints(1);
    auto sizes = numeric(*n.inputs[0].type.shape);
    if (n.has("axis") || !condition || !sizes || sizes->empty() ||
        condition->size() > static_cast<size_t>(kMaxIndices))
      return std::nullopt;
    std::vector<int64_t> indices;
    auto rank = static_cast<int64_t>(sizes->size()), count = int64_t{0};
    for (size_t flat = 0; flat < condition->size(); ++flat) {
      if ((*condition)[flat] == 0) continue;
      std::vector<int64_t> place(sizes->size());
      auto rest = static_cast<int64_t>(flat);
      for (size_t d = sizes->size(); d-- > 0; rest /= (*sizes)[d]) place[d] = rest % (*sizes)[d];
      if (rest != 0) return std::nullopt;  // a condition longer than the data
      indices.insert(indices.end(), place.begin(), place.end());
      ++count;
    }
    if (count == 0 || count * rank > kMaxIndices) return std::nullopt;
    return OnnxImport{{{{Poly(0)}, polys(indices), {Poly(count), Poly(rank)}}, {}}, {0}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(gather_nd, GatherNd)

#include "ir/ops/define.h"

namespace regraft::ops {

// out[a.., j.., b..] = x[a.., indices[j..], b..]: the axis is replaced by the (constant) index
// tensor, whose shape is `shape` (empty: one index, the axis goes away). ONNX's Compress keeps the
// elements along an axis for which a condition holds.
struct Gather {
  static constexpr std::string_view name = "gather";
  static constexpr std::string_view onnx[] = {"Gather", "Compress"};
  static constexpr Work work = Work::Movement;
  static constexpr std::span<const TypeSupport> types = kMovement;
  static constexpr auto typed = &one_type;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"axis", Length::One, 0, true, IntKind::Axis},
                                     {"indices", Length::Any, std::nullopt, false, IntKind::Offset},
                                     {"shape", Length::Any, std::nullopt, true}};
  static constexpr size_t kMaxIndices = 4096;  ///< longer tables stay data of an opaque node
  OP_SHAPES {
    int rank = static_cast<int>(in[0].size());
    if (!axis_fits(fixed(at.ints[0][0]), rank)) return error("gather: no such axis");
    int axis = axis_of(fixed(at.ints[0][0]), rank);
    if (rank - 1 + static_cast<int>(at.ints[2].size()) > kMaxRank)
      return error("gather: rank too high");
    int64_t count = 1;
    for (const auto& d : at.ints[2]) count *= fixed(d);
    if (count != static_cast<int64_t>(at.ints[1].size()))
      return error("gather: shape does not fit the indices");
    using I = typename A::Index;
    for (const auto& p : at.ints[1]) {
      alg.require(I(0) <= p);
      alg.require(p < in[0][static_cast<size_t>(axis)]);
    }
    auto out = in[0];
    out.erase(out.begin() + axis);
    out.insert(out.begin() + axis, at.ints[2].begin(), at.ints[2].end());
    return Shapes<A>{out};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    int axis = axis_of(fixed(at.ints[0][0]), in[0].rank());
    size_t skip = at.ints[2].size();
    I flat(0);
    for (size_t d = 0; d < skip; ++d)
      flat = flat * at.ints[2][d] + i[static_cast<size_t>(axis) + d];
    Indices<I> j;
    for (int d = 0; d < in[0].rank(); ++d) {
      if (d == axis)
        j.push_back(alg.lookup(at.ints[1], flat, in[0].dim(axis)));
      else
        j.push_back(i[static_cast<size_t>(d < axis ? d : d - 1 + static_cast<int>(skip))]);
    }
    return alg.read(in[0], j);
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    auto rank = rank_of(n, 0);
    bool compress = n.type == "Compress";
    if (!rank || (compress && !n.has("axis") && *rank != 1)) return std::nullopt;
    int64_t axis = n.integer("axis", 0);
    if (!axis_fits(axis, *rank) || n.inputs.size() != 2 || !n.inputs[1].constant)
      return std::nullopt;
    if (n.inputs[1].constant->count() > static_cast<int64_t>(kMaxIndices) ||
        n.inputs[1].constant->count() < 1)
      return std::nullopt;
    auto indices = n.constant_ints(1);
    if (!indices) return std::nullopt;
    if (compress) indices = kept(*indices);
    const Poly& size = (*n.inputs[0].type.shape)[static_cast<size_t>(axis_of(axis, *rank))];
    for (int64_t& p : *indices) {
      if (p < 0 && !size.is_constant()) return std::nullopt;
      if (p < 0) p += size.constant();
      if (p < 0 || !size.is_constant() || p >= size.constant()) return std::nullopt;
    }
    if (indices->empty()) return std::nullopt;
    auto shape = compress ? std::vector<Poly>{Poly(static_cast<int64_t>(indices->size()))}
                          : polys(n.inputs[1].constant->dims());
    return OnnxImport{{{{Poly(axis)}, polys(*indices), shape}, {}}, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&, int) {
    ASSIGN_OR_RETURN(auto indices, numbers("indices", at.ints[1]));
    ASSIGN_OR_RETURN(auto shape, numbers("shape", at.ints[2]));
    OnnxExport r;
    r.type = "Gather";
    r.attrs["axis"] = int_attr(fixed(at.ints[0][0]));
    r.inputs = operand_inputs(1);
    r.inputs.push_back({std::nullopt, Constant::of_ints(shape, indices)});
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{4, 3}}, {{{0}, {2, 0, 3}, {3}}, {}}},
            {{{2, 4, 3}}, {{{1}, {1}, {}}, {}}},
            {{{2, 4}}, {{{-1}, {0, 1, 3, 3}, {2, 2}}, {}}}};
  }

 private:
  /// The positions at which a condition holds.
  static std::vector<int64_t> kept(const std::vector<int64_t>& condition) {
    std::vector<int64_t> r;
    for (size_t k = 0; k < condition.size(); ++k)
      if (condition[k] != 0) r.push_back(static_cast<int64_t>(k));
    return r;
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(gather, Gather)

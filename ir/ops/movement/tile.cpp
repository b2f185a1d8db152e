#include "ir/ops/define.h"

namespace regraft::ops {

// out[i] = x[i mod the sizes of x]: x `repeats` times along each axis
struct Tile {
  static constexpr std::string_view name = "tile";
  static constexpr std::string_view onnx[] = {"Tile"};
  static constexpr Work work = Work::Movement;
  static constexpr TypeSupport types[] = {
      {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, 1}, {DType::BF16, 13, kNever},
      {DType::I64, 1, 1}, {DType::I32, 1, 1}, {DType::Bool, 1, 1}};
  static constexpr auto typed = &one_type;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"repeats", Length::Rank, std::nullopt}};
  OP_SHAPES {
    using I = typename A::Index;
    auto out = in[0];
    for (size_t d = 0; d < out.size(); ++d) {
      alg.require(I(1) <= at.ints[0][d]);
      out[d] = out[d] * at.ints[0][d];
    }
    return Shapes<A>{out};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    Indices<I> from(i);
    for (size_t d = 0; d < i.size(); ++d) {
      if (is_one(at.ints[0][d])) continue;
      const I& size = in[0].dim(static_cast<int>(d));
      from[static_cast<int>(d)] = is_one(size) ? I(0) : i[d] - alg.floordiv(i[d], size) * size;
    }
    return alg.read(in[0], from);
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    auto repeats = n.sizes(1);
    auto rank = rank_of(n, 0);
    if (!repeats || !rank || repeats->size() != static_cast<size_t>(*rank)) return std::nullopt;
    if (std::ranges::any_of(*repeats, [](const Poly& r) { return lower_bound(r).value_or(0) < 1; }))
      return std::nullopt;
    return OnnxImport{{{*repeats}, {}}, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&, int) {
    OnnxExport r;
    r.type = "Tile";
    r.inputs = operand_inputs(1);
    ASSIGN_OR_RETURN(auto repeats, size_input("repeats", at.ints[0]));
    r.inputs.push_back(std::move(repeats));
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}}, {{{2, 1}}, {}}}, {{{2, 1, 3}}, {{{1, 3, 2}}, {}}}, {{{4}}, {{{2}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(tile, Tile)

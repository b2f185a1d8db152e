#include "ir/ops/movement/pads.h"

namespace regraft::ops {

// out[i] = x[f(i - begins)], where f brings a position p outside of n elements back inside:
// mode 0 (reflect): -p, or 2 (n - 1) - p; mode 1 (edge): the nearest; mode 2 (wrap): p mod n
struct PadInside {
  static constexpr std::string_view name = "pad-inside";
  static constexpr std::string_view onnx[] = {"Pad"};
  static constexpr Work work = Work::Movement;
  static constexpr TypeSupport types[] = {
      {DType::F32, 1, 1},   {DType::F16, 1, 1},   {DType::F64, 1, 1},   {DType::BF16, 13, kNever},
      {DType::I64, 11, 11}, {DType::I32, 11, 11}, {DType::Bool, 13, 13}};
  static constexpr auto typed = &one_type;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {
      {"pads", Length::TwiceRank, std::nullopt, false, IntKind::Offset},  // begins, then ends
      {"mode", Length::One, std::nullopt, true}};
  enum Mode : uint8_t { kReflect, kEdge, kWrap };
  static constexpr std::array<std::string_view, 3> kModes = {"reflect", "edge", "wrap"};
  OP_SHAPES {
    using I = typename A::Index;
    auto out = in[0];
    if (fixed(at.ints[1][0]) < kReflect || fixed(at.ints[1][0]) > kWrap)
      return error("pad-inside: no such mode");
    for (size_t d = 0; d < out.size(); ++d) {
      const I &begin = at.ints[0][d], &end = at.ints[0][d + out.size()];
      if (plainly_zero(begin) && plainly_zero(end)) continue;
      alg.require(I(0) <= begin);
      alg.require(I(0) <= end);
      alg.require(I(1) <= out[d]);
      if (fixed(at.ints[1][0]) == kReflect) {
        alg.require(begin < out[d]);
        alg.require(end < out[d]);
      }
      out[d] = out[d] + begin + end;
    }
    return Shapes<A>{out};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    int64_t mode = fixed(at.ints[1][0]);
    Indices<I> from(i);
    auto along = [&](auto& self, int d) -> typename A::Scalar {
      if (d == from.size()) return alg.read(in[0], from);
      auto axis = static_cast<size_t>(d);
      const I &begin = at.ints[0][axis], &n = in[0].dim(d);
      I p = i[axis] - begin;
      auto at_place = [&](const I& inside) {
        from[d] = inside;
        return self(self, d + 1);
      };
      if (plainly_zero(begin) && plainly_zero(at.ints[0][axis + i.size()])) return at_place(p);
      if (mode == kWrap) return at_place(p - alg.floordiv(p, n) * n);
      auto behind = [&] { return at_place(mode == kEdge ? n - I(1) : n + n - I(2) - p); };
      return alg.select(
          p < I(0), [&] { return at_place(mode == kEdge ? I(0) : I(0) - p); },
          [&] {
            return alg.select(
                p < n, [&] { return at_place(p); }, behind);
          });
    };
    return along(along, 0);
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    auto mode = std::find(kModes.begin(), kModes.end(), n.text("mode", "constant"));
    if (mode == kModes.end()) return std::nullopt;
    auto pads = onnx_pads(n);
    if (!pads) return std::nullopt;
    return OnnxImport{{{*pads, {Poly(mode - kModes.begin())}}, {}}, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&,
                                    int opset) {
    int64_t mode = fixed(at.ints[1][0]);
    if (mode == kWrap && opset < 19) return error("Pad that wraps around needs opset 19");
    OnnxExport r;
    r.type = "Pad";
    r.attrs["mode"] = text_attr(std::string(kModes[static_cast<size_t>(mode)]));
    r.inputs = operand_inputs(1);
    RETURN_IF_ERROR(write_pads(at.ints[0], opset, r));
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{3, 4}}, {{{1, 0, 2, 3}, {0}}, {}}},
            {{{2, 3}}, {{{2, 1, 0, 1}, {1}}, {}}},
            {{{2, 3}}, {{{1, 0, 0, 2}, {2}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(pad_inside, PadInside)

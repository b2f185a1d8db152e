#include "ir/ops/movement/resize.h"

namespace regraft::ops {

// out[n, c, p..] = x at the real position q(p).., linear between neighbours, clamped at the border;
// q(p) = (p + 1/2) / factor - 1/2 (half_pixel 1) or p / factor (half_pixel 0)
struct ResizeLinear : Resizing {
  static constexpr std::string_view name = "resize-linear";
  static constexpr std::string_view onnx[] = {"Resize", "Upsample"};
  static constexpr Work work = Work::Pooling;
  static constexpr IntAttr ints[] = {{"factors", Length::Spatial, std::nullopt},
                                     {"half_pixel", Length::One, 1, true}};
  OP_ELEMENT {
    using I = typename A::Index;
    // Along one axis: q = numerator / denominator, left neighbour = floor(q), weight of the right
    // one = q - left.
    auto go = [&](auto& self, size_t d, Indices<I> from) -> typename A::Scalar {
      if (d == i.size()) return alg.read(in[0], from);
      const I& f = at.ints[0][d - 2];
      bool half = fixed(at.ints[1][0]) != 0;
      I numerator = half ? I(2) * i[d] + I(1) - f : i[d], denominator = half ? I(2) * f : f;
      I left = alg.floordiv(numerator, denominator), size = in[0].dim(static_cast<int>(d));
      auto clamped = [&](const I& p) {
        auto at_position = [&](const I& q) {
          Indices<I> next = from;
          next[static_cast<int>(d)] = q;
          return self(self, d + 1, next);
        };
        return alg.select(
            p < I(0), [&] { return at_position(I(0)); },
            [&] {
              return alg.select(
                  p < size, [&] { return at_position(p); },
                  [&] { return at_position(size - I(1)); });
            });
      };
      auto weight = alg.to_scalar(numerator - left * denominator) * alg.recip(denominator);
      return minus(alg, alg.constant(1), weight) * clamped(left) + weight * clamped(left + I(1));
    };
    return go(go, 2, Indices<I>(i));
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    if (n.text("mode", "nearest") != "linear") return std::nullopt;
    bool half = false;
    if (n.type == "Resize" && n.opset >= 11) {
      auto where = n.text("coordinate_transformation_mode", "half_pixel");
      half = where == "half_pixel";
      if (!half && where != "asymmetric") return std::nullopt;
      if (n.integer("exclude_outside", 0) != 0) return std::nullopt;
    }
    auto factors = onnx_factors(n);
    if (!factors) return std::nullopt;
    return OnnxImport{{{polys(*factors), {Poly(half ? 1 : 0)}}, {}}, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&,
                                    int opset) {
    return write("linear", fixed(at.ints[1][0]) != 0 ? "half_pixel" : "asymmetric", at, opset);
  }
  static std::vector<Sample> samples() {
    return {{{{1, 2, 2, 3}}, {{{2, 3}, {1}}, {}}}, {{{1, 1, 3}}, {{{2}, {0}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(resize_linear, ResizeLinear)

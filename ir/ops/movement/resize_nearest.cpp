#include "ir/ops/movement/resize.h"

namespace regraft::ops {

// out[n, c, p..] = x[n, c, floor(p / factor)..]
struct ResizeNearest : Resizing {
  static constexpr std::string_view name = "resize-nearest";
  static constexpr std::string_view onnx[] = {"Resize", "Upsample"};
  static constexpr Work work = Work::Movement;
  static constexpr Blocking blocking = Blocking::Following;
  static constexpr IntAttr ints[] = {{"factors", Length::Spatial, std::nullopt}};
  OP_ELEMENT {
    Indices<typename A::Index> from(i);
    for (size_t d = 2; d < i.size(); ++d)
      from[static_cast<int>(d)] = alg.floordiv(i[d], at.ints[0][d - 2]);
    return alg.read(in[0], from);
  }
  // For whole factors, half-pixel centres rounded down at ties fall on the same elements.
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    if (n.text("mode", "nearest") != "nearest") return std::nullopt;
    if (n.type == "Resize" && n.opset >= 11) {
      auto where = n.text("coordinate_transformation_mode", "half_pixel"),
           rounding = n.text("nearest_mode", "round_prefer_floor");
      bool whole = where == "asymmetric" && rounding == "floor";
      bool centre = where == "half_pixel" && rounding == "round_prefer_floor";
      if (!whole && !centre) return std::nullopt;
    }
    auto factors = onnx_factors(n);
    if (!factors) return std::nullopt;
    return OnnxImport{{{polys(*factors)}, {}}, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&,
                                    int opset) {
    return write("nearest", "asymmetric", at, opset);
  }
  static std::vector<Sample> samples() {
    return {{{{1, 2, 2, 3}}, {{{2, 3}}, {}}}, {{{1, 1, 3}}, {{{2}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(resize_nearest, ResizeNearest)

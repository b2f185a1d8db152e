#include "ir/ops/layers/window.h"

namespace regraft::ops {

// out[n, c, p..] = max over k.. of x[n, c, p * stride + k * dilation - pad], inside x only
struct MaxPool {
  static constexpr std::string_view name = "maxpool";
  static constexpr std::string_view onnx[] = {"MaxPool"};
  static constexpr Work work = Work::Pooling;
  static constexpr Blocking blocking = Blocking::Filled;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"kernel", Length::Spatial, std::nullopt},
                                     {"strides", Length::Spatial, 1},
                                     {"pads", Length::TwiceSpatial, 0, false, IntKind::Offset},
                                     {"dilations", Length::Spatial, 1}};
  static constexpr TypeSupport types[] = {
      {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, 8}, {DType::BF16, 22, kNever}};
  template <class I>
  static Window<I> window(const Attrs<I>& at) {
    return {at.ints[1], at.ints[2], at.ints[3]};
  }
  OP_SHAPES {
    if (in[0].size() < 3) return error("maxpool: no spatial axis");
    auto out = in[0];
    for (size_t d = 0; d + 2 < out.size(); ++d)
      out[d + 2] = window_size(alg, window(at), d, in[0][d + 2], at.ints[0][d]);
    return Shapes<A>{out};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    const auto& x = in[0];
    Indices<I> from(i);
    auto move_to = [&](std::span<const I> k) {
      for (size_t d = 0; d < k.size(); ++d)
        from[static_cast<int>(d) + 2] = window_position(window(at), d, i[d + 2], k[d]);
    };
    auto inside = [&](std::span<const I> k) {
      move_to(k);
      auto yes = I(0) <= from[2] && from[2] < x.dim(2);
      for (int d = 3; d < x.rank(); ++d) yes = yes && I(0) <= from[d] && from[d] < x.dim(d);
      return yes;
    };
    return alg.max_over(std::span<const I>(at.ints[0]), inside, [&](std::span<const I> k) {
      move_to(k);
      return alg.read(x, from);
    });
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    const auto* kernel = n.ints("kernel_shape");
    if (!kernel || n.integer("storage_order", 0) != 0) return std::nullopt;
    auto window = onnx_window(n, *kernel, CeilMode::AsEndPads);
    if (!window) return std::nullopt;
    return OnnxImport{{{polys(*kernel), window->strides, window->pads, window->dilations}, {}},
                      {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    constexpr std::string_view names[] = {"kernel_shape", "strides", "pads", "dilations"};
    return pool_form("MaxPool", names, at, in[0], opset, 10);
  }
  static std::vector<Sample> samples() {
    return {{{{1, 2, 4, 5}}, {{{3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}}, {}}},
            {{{2, 1, 6, 5}}, {{{2, 2}, {2, 1}, {0, 1, 1, 0}, {2, 1}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(maxpool, MaxPool)

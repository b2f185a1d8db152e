#include "ir/ops/layers/window.h"

namespace regraft::ops {

// out[n, c, p..] is the sum over k.. of |v| (p = 1), or the root of the sum of v * v (p = 2), with
// v = x[n, c, p * stride + k * dilation - pad], positions outside x as 0
struct LpPool {
  static constexpr std::string_view name = "lp-pool";
  static constexpr std::string_view onnx[] = {"LpPool"};
  static constexpr Work work = Work::Pooling;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"kernel", Length::Spatial, std::nullopt},
                                     {"strides", Length::Spatial, 1},
                                     {"pads", Length::TwiceSpatial, 0, false, IntKind::Offset},
                                     {"dilations", Length::Spatial, 1},
                                     {"p", Length::One, 2, true}};
  static constexpr TypeSupport types[] = {
      {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, kNever}, {DType::BF16, 22, kNever}};
  template <class I>
  static Window<I> window(const Attrs<I>& at) {
    return {at.ints[1], at.ints[2], at.ints[3]};
  }
  OP_SHAPES {
    if (in[0].size() < 3) return error("lp-pool: no spatial axis");
    if (fixed(at.ints[4][0]) != 1 && fixed(at.ints[4][0]) != 2)
      return error("lp-pool: p is not 1 or 2");
    auto out = in[0];
    for (size_t d = 0; d + 2 < out.size(); ++d)
      out[d + 2] = window_size(alg, window(at), d, in[0][d + 2], at.ints[0][d]);
    return Shapes<A>{out};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    bool squares = fixed(at.ints[4][0]) == 2;
    Indices<I> from(i);
    auto total = sum_over(alg, std::span<const I>(at.ints[0]), [&](std::span<const I> k) {
      auto inside = I(0) <= k[0];
      for (size_t d = 0; d < k.size(); ++d) {
        int axis = static_cast<int>(d) + 2;
        from[axis] = window_position(window(at), d, i[d + 2], k[d]);
        inside = inside && I(0) <= from[axis] && from[axis] < in[0].dim(axis);
      }
      auto value = [&] {
        auto x = alg.read(in[0], from);
        return squares ? x * x : absolute(alg, x);
      };
      return alg.select(inside, value, [&] { return zero(alg); });
    });
    return squares ? alg.apply(Fn::Sqrt, total) : total;
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    const auto* kernel = n.ints("kernel_shape");
    if (!kernel) return std::nullopt;
    auto window = onnx_window(n, *kernel, CeilMode::AsEndPads);
    if (!window) return std::nullopt;
    return OnnxImport{{{polys(*kernel),
                        window->strides,
                        window->pads,
                        window->dilations,
                        {Poly(n.integer("p", 2))}},
                       {}},
                      {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    constexpr std::string_view names[] = {"kernel_shape", "strides", "pads", "dilations", "p"};
    return pool_form("LpPool", names, at, in[0], opset, 18);
  }
  static std::vector<Sample> samples() {
    return {{{{1, 2, 4, 5}}, {{{3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, {2}}, {}}},
            {{{2, 1, 6}}, {{{2}, {2}, {0, 1}, {2}, {1}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(lp_pool, LpPool)

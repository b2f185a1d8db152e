#include "ir/ops/layers/window.h"

namespace regraft::ops {

// out[n, c, p..] = sum over k.. of x[n, c, p * stride + k * dilation - pad] / count, positions
// outside x as 0; count is the whole kernel, or only what lies inside x when include_pad is 0
struct AvgPool {
  static constexpr std::string_view name = "avgpool";
  static constexpr std::string_view onnx[] = {"AveragePool"};
  static constexpr Work work = Work::Pooling;
  static constexpr Blocking blocking = Blocking::Filled;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"kernel", Length::Spatial, std::nullopt},
                                     {"strides", Length::Spatial, 1},
                                     {"pads", Length::TwiceSpatial, 0, false, IntKind::Offset},
                                     {"dilations", Length::Spatial, 1},
                                     {"include_pad", Length::One, 0, true}};
  static constexpr TypeSupport types[] = {
      {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, kNever}, {DType::BF16, 22, kNever}};
  template <class I>
  static Window<I> window(const Attrs<I>& at) {
    return {at.ints[1], at.ints[2], at.ints[3]};
  }
  OP_SHAPES {
    if (in[0].size() < 3) return error("avgpool: no spatial axis");
    auto out = in[0];
    for (size_t d = 0; d + 2 < out.size(); ++d)
      out[d + 2] = window_size(alg, window(at), d, in[0][d + 2], at.ints[0][d]);
    return Shapes<A>{out};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    const auto& x = in[0];
    std::span<const I> kernel(at.ints[0]);
    Indices<I> from(i);
    auto over_window = [&](auto&& value) {
      return sum_over(alg, kernel, [&](std::span<const I> k) {
        auto inside = I(0) <= k[0];
        for (size_t d = 0; d < k.size(); ++d) {
          int axis = static_cast<int>(d) + 2;
          from[axis] = window_position(window(at), d, i[d + 2], k[d]);
          inside = inside && I(0) <= from[axis] && from[axis] < x.dim(axis);
        }
        return alg.select(
            inside, [&] { return value(); }, [&] { return zero(alg); });
      });
    };
    auto total = over_window([&] { return alg.read(x, from); });
    bool whole =
        fixed(at.ints[4][0]) != 0 || std::all_of(at.ints[2].begin(), at.ints[2].end(),
                                                 [](const I& p) { return plainly_zero(p); });
    if (!whole) return total * alg.apply(Fn::Recip, over_window([&] { return alg.constant(1); }));
    I count(1);
    for (const I& k : kernel) count = count * k;
    return total * alg.recip(count);
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    const auto* kernel = n.ints("kernel_shape");
    if (!kernel) return std::nullopt;
    int64_t include = n.integer("count_include_pad", 0);
    auto window = onnx_window(n, *kernel, include ? CeilMode::Refuse : CeilMode::AsEndPads);
    if (!window) return std::nullopt;
    return OnnxImport{
        {{polys(*kernel), window->strides, window->pads, window->dilations, {Poly(include)}}, {}},
        {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    constexpr std::string_view names[] = {"kernel_shape", "strides", "pads", "dilations",
                                          "count_include_pad"};
    return pool_form("AveragePool", names, at, in[0], opset, 19);
  }
  static std::vector<Sample> samples() {
    return {{{{1, 2, 4, 5}}, {{{3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, {1}}, {}}},
            {{{1, 2, 4, 5}}, {{{3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, {0}}, {}}},
            {{{2, 1, 6, 5}}, {{{2, 2}, {2, 1}, {0, 0, 0, 0}, {1, 1}, {0}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(avgpool, AvgPool)

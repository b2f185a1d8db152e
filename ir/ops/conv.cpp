#include "ir/ops/window.h"

namespace regraft::ops {

// out[n, o, p..] = sum over c, k.. of x[n, g(o) + c, p * stride + k * dilation - pad] * w[o, c, k..] + b[o]
// where positions outside x count as 0 and g(o) is the first input channel of o's group
struct Conv {
  static constexpr std::string_view name = "conv";
  static constexpr std::string_view onnx[] = {"Conv"};
  static constexpr int min_arity = 2, max_arity = 3;
  static constexpr IntAttr ints[] = {{"strides", Length::Spatial, 1},
                                     {"pads", Length::TwiceSpatial, 0},
                                     {"dilations", Length::Spatial, 1},
                                     {"group", Length::One, 1}};
  template <class I>
  static Window<I> window(const Attrs<I>& at) { return {at.ints[0], at.ints[1], at.ints[2]}; }
  OP_SHAPES {
    const auto &x = in[0], &w = in[1], &group = at.ints[3][0];
    if (x.size() < 3 || w.size() != x.size()) return error("conv: ranks of data and weight do not fit");
    if (in.size() == 3 && in[2].size() != 1) return error("conv: the bias is not a vector");
    alg.require(x[1] == group * w[1]);
    alg.require(w[0] == group * alg.floordiv(w[0], group));
    if (in.size() == 3) alg.require(in[2][0] == w[0]);
    ShapeOf<typename A::Index> out{x[0], w[0]};
    for (size_t d = 0; d + 2 < x.size(); ++d)
      out.push_back(window_size(alg, window(at), d, x[d + 2], w[d + 2]));
    return Shapes<A>{out};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    const auto &x = in[0], &w = in[1];
    I first(0), group = at.ints[3][0];
    if (!is_one(group)) first = alg.floordiv(i[1], alg.floordiv(w.dim(0), group)) * w.dim(1);
    Indices<I> extents;
    for (int d = 1; d < w.rank(); ++d) extents.push_back(w.dim(d));
    Indices<I> from(i), weight(i);
    weight[0] = i[1];
    auto total = sum_over(alg, std::span<const I>(extents), [&](std::span<const I> k) {
      from[1] = first + k[0];
      weight[1] = k[0];
      auto inside = I(0) <= k[0];
      for (int d = 2; d < x.rank(); ++d) {
        auto axis = static_cast<size_t>(d) - 2;
        from[d] = window_position(window(at), axis, i[axis + 2], k[axis + 1]);
        weight[d] = k[axis + 1];
        inside = inside && I(0) <= from[d] && from[d] < x.dim(d);
      }
      return alg.select(inside, [&] { return alg.read(x, from) * alg.read(w, weight); },
                        [&] { return zero(alg); });
    });
    if (in.size() < 3) return total;
    return total + alg.read(in[2], i.subspan(1, 1));
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    auto rank = rank_of(n, 1);
    if (!rank || rank_of(n, 0) != rank || *rank < 3) return std::nullopt;
    const Shape& w = *n.inputs[1].type.shape;
    std::vector<int64_t> kernel;
    for (size_t d = 2; d < w.size(); ++d) {
      if (!w[d].is_constant()) return std::nullopt;
      kernel.push_back(w[d].constant());
    }
    auto window = onnx_window(n, kernel, CeilMode::Ignore);
    if (!window) return std::nullopt;
    OnnxImport r{{{window->strides, window->pads, window->dilations, {Poly(n.integer("group", 1))}}, {}}, {0, 1}};
    if (n.inputs.size() > 2 && n.inputs[2].present) r.operands.push_back(2);
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{1, 2, 4, 5}, {3, 2, 3, 3}}, {{{1, 1}, {1, 1, 1, 1}, {1, 1}, {1}}, {}}},
            {{{2, 4, 5, 5}, {4, 2, 3, 2}, {4}}, {{{2, 1}, {0, 1, 1, 0}, {1, 2}, {2}}, {}}},
            {{{1, 2, 6}, {3, 2, 3}}, {{{2}, {1, 0}, {2}, {1}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(conv, Conv)

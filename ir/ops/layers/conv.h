#pragma once
// The formula of conv, which the forms that runtimes fuse share.
#include "base/parallel.h"
#include "ir/ops/layers/dense.h"
#include "ir/ops/layers/window.h"

namespace regraft::ops {

// out[n, o, p..] = sum over c, k.. of x[n, g(o) + c, p * stride + k * dilation - pad] * w[o, c,
// k..] + b[o] where positions outside x count as 0 and g(o) is the first input channel of o's group
struct Conv {
  static constexpr std::string_view name = "conv";
  static constexpr std::string_view onnx[] = {"Conv"};
  static constexpr Work work = Work::Convolution;
  static constexpr Fusion fusion = Fusion::Anchor;
  static constexpr Blocking blocking = Blocking::Convolution;
  static constexpr int min_arity = 2, max_arity = 3;
  static constexpr IntAttr ints[] = {{"strides", Length::Spatial, 1},
                                     {"pads", Length::TwiceSpatial, 0, false, IntKind::Offset},
                                     {"dilations", Length::Spatial, 1},
                                     {"group", Length::One, 1}};
  static constexpr TypeSupport types[] = {
      {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, kNever}, {DType::BF16, 22, kNever}};
  template <class I>
  static Window<I> window(const Attrs<I>& at) {
    return {at.ints[0], at.ints[1], at.ints[2]};
  }
  OP_SHAPES {
    const auto &x = in[0], &w = in[1];
    const auto& group = at.ints[3][0];
    if (x.size() < 3 || w.size() != x.size())
      return error("conv: ranks of data and weight do not fit");
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
      return alg.select(
          inside, [&] { return alg.read(x, from) * alg.read(w, weight); },
          [&] { return zero(alg); });
    });
    if (in.size() < 3) return total;
    return total + alg.read(in[2], i.subspan(1, 1));
  }
  /// Patches of the input as columns, times the weights as a matrix; a block of columns at a time.
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
                    std::span<double> out) {
    const auto &x = in[0], &w = in[1];
    int64_t groups = at.ints[3][0], width = w.dim(0) / groups, taps = 1, places = 1;
    for (int d = 1; d < w.rank(); ++d) taps *= w.dim(d);
    for (size_t d = 2; d < shape.size(); ++d) places *= shape[d];
    constexpr int64_t kPlaces = 256;  // a block of work
    int64_t blocks = (places + kPlaces - 1) / kPlaces;
    parallel_for(static_cast<size_t>(shape[0] * groups * blocks), default_threads(),
                 [&](size_t task) {
                   auto t = static_cast<int64_t>(task);
                   int64_t first = t % blocks * kPlaces, group = t / blocks % groups,
                           n = t / blocks / groups;
                   int64_t count = std::min(kPlaces, places - first);
                   std::vector<double> patches(static_cast<size_t>(taps * count));
                   for (int64_t tap = 0; tap < taps; ++tap)
                     gather_row(x, w, at, shape, n, group * w.dim(1), tap, first,
                                {patches.data() + tap * count, static_cast<size_t>(count)});
                   double* result = out.data() + (n * w.dim(0) + group * width) * places + first;
                   multiply(w.data + group * width * taps, taps, patches.data(), count, result,
                            places, width, taps, count);
                   if (in.size() == 3)
                     for (int64_t o = 0; o < width; ++o)
                       for (int64_t p = 0; p < count; ++p)
                         result[o * places + p] += in[2].data[group * width + o];
                 });
  }
  /// What the weights' element `tap` meets at each of the places from `first` on.
  static void gather_row(const NumTensor<double>& x, const NumTensor<double>& w,
                         const Attrs<int64_t>& at, std::span<const int64_t> shape, int64_t n,
                         int64_t channel, int64_t tap, int64_t first, std::span<double> row) {
    Indices<int64_t> k, from;
    for (int d = 1; d < w.rank(); ++d)
      k.push_back(tap / w.strides[static_cast<size_t>(d)] % w.dim(d));
    for (int d = 0; d < x.rank(); ++d) from.push_back(0);
    from[0] = n;
    from[1] = channel + k[0];
    for (size_t p = 0; p < row.size(); ++p) {
      int64_t rest = first + static_cast<int64_t>(p);
      bool inside = true;
      for (int d = x.rank() - 1; d >= 2; --d) {
        auto axis = static_cast<size_t>(d) - 2;
        from[d] = window_position(window(at), axis, rest % shape[static_cast<size_t>(d)], k[d - 1]);
        rest /= shape[static_cast<size_t>(d)];
        inside = inside && from[d] >= 0 && from[d] < x.dim(d);
      }
      int64_t offset = 0;
      for (int d = 0; d < x.rank(); ++d) offset += from[d] * x.strides[static_cast<size_t>(d)];
      row[p] = inside ? x.data[offset] : 0;
    }
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
    OnnxImport r{
        {{window->strides, window->pads, window->dilations, {Poly(n.integer("group", 1))}}, {}},
        {0, 1}};
    if (n.inputs.size() > 2 && n.inputs[2].present) r.operands.push_back(2);
    return r;
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    const Shape &x = *in[0].shape, &w = *in[1].shape;
    size_t axes = x.size() - 2;
    bool nothing = x[1].is_zero();
    for (size_t d = 0; d < axes; ++d) {  // without padding enough for one window
      if (!x[d + 2].is_zero()) continue;
      Poly room = at.ints[1][d] + at.ints[1][d + axes] - at.ints[2][d] * (w[d + 2] - 1) - 1;
      nothing = nothing || !room.is_constant() || room.constant() < 0;
    }
    if (nothing) return error("Conv of nothing does not run");
    return export_by_name(define<Conv>(), at, in, opset);
  }
  static std::vector<Sample> samples() {
    return {{{{1, 2, 4, 5}, {3, 2, 3, 3}}, {{{1, 1}, {1, 1, 1, 1}, {1, 1}, {1}}, {}}},
            {{{2, 4, 5, 5}, {4, 2, 3, 2}, {4}}, {{{2, 1}, {0, 1, 1, 0}, {1, 2}, {2}}, {}}},
            {{{1, 2, 6}, {3, 2, 3}}, {{{2}, {1, 0}, {2}, {1}}, {}}}};
  }
};

}  // namespace regraft::ops

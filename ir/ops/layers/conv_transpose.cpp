#include "base/parallel.h"
#include "ir/ops/layers/dense.h"
#include "ir/ops/layers/window.h"

namespace regraft::ops {

// out[n, o, q..] = sum over c and k.. of x[n, c, p..] * w[c, o', k..] + b[o], where c runs over the
// inputs of o's group, o' is o within it, and p * stride = q + pad - k * dilation inside x
struct ConvTranspose {
  static constexpr std::string_view name = "conv-transpose";
  static constexpr std::string_view onnx[] = {"ConvTranspose"};
  static constexpr Work work = Work::Convolution;
  static constexpr int min_arity = 2, max_arity = 3;
  static constexpr IntAttr ints[] = {
      {"strides", Length::Spatial, 1},
      {"pads", Length::TwiceSpatial, 0, false, IntKind::Offset},
      {"dilations", Length::Spatial, 1},
      {"group", Length::One, 1},
      {"output_padding", Length::Spatial, 0, false, IntKind::Offset}};
  static constexpr TypeSupport types[] = {
      {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, kNever}, {DType::BF16, 22, kNever}};
  OP_SHAPES {
    const auto &x = in[0], &w = in[1];
    const auto& group = at.ints[3][0];
    if (x.size() < 3 || w.size() != x.size())
      return error("conv-transpose: ranks of data and weight do not fit");
    if (in.size() == 3 && in[2].size() != 1) return error("conv-transpose: the bias is no vector");
    alg.require(x[1] == w[0]);
    alg.require(w[0] == group * alg.floordiv(w[0], group));
    ShapeOf<typename A::Index> out{x[0], w[1] * group};
    if (in.size() == 3) alg.require(in[2][0] == out[1]);
    for (size_t d = 0; d + 2 < x.size(); ++d)
      out.push_back(size_along(alg, at, d, x[d + 2], w[d + 2]));
    return Shapes<A>{out};
  }
  /// Of the output, for n elements and a kernel of k.
  template <Algebra A, class I = typename A::Index>
  static I size_along(A& alg, const Attrs<I>& at, size_t axis, const I& n, const I& k) {
    size_t axes = at.ints[0].size();
    const I &stride = at.ints[0][axis], &dilation = at.ints[2][axis], &more = at.ints[4][axis];
    const I &begin = at.ints[1][axis], &end = at.ints[1][axis + axes];
    for (const I& one : {k, stride, dilation, n}) alg.require(I(1) <= one);
    for (const I& offset : {begin, end, more}) alg.require(I(0) <= offset);
    I size = stride * (n - I(1)) + more + dilation * (k - I(1)) + I(1) - begin - end;
    alg.require(I(1) <= size);
    return size;
  }
  OP_ELEMENT {
    using I = typename A::Index;
    const auto &x = in[0], &w = in[1];
    I group(0), inputs = w.dim(0);
    if (!is_one(at.ints[3][0])) {
      group = alg.floordiv(i[1], w.dim(1));
      inputs = alg.floordiv(w.dim(0), at.ints[3][0]);
    }
    Indices<I> extents, from(i), weight(i);
    extents.push_back(inputs);
    for (int d = 2; d < w.rank(); ++d) extents.push_back(w.dim(d));
    weight[1] = i[1] - group * w.dim(1);
    auto total = sum_over(alg, std::span<const I>(extents), [&](std::span<const I> k) {
      from[1] = weight[0] = group * inputs + k[0];
      auto inside = I(0) <= k[0];
      for (int d = 2; d < x.rank(); ++d) {
        auto axis = static_cast<size_t>(d) - 2;
        I place = i[axis + 2] + at.ints[1][axis] - k[axis + 1] * at.ints[2][axis];
        weight[d] = k[axis + 1];
        from[d] = place;
        if (const I& stride = at.ints[0][axis]; !is_one(stride)) {
          from[d] = alg.floordiv(place, stride);
          inside = inside && from[d] * stride == place;
        }
        inside = inside && I(0) <= from[d] && from[d] < x.dim(d);
      }
      return alg.select(
          inside, [&] { return alg.read(x, from) * alg.read(w, weight); },
          [&] { return zero(alg); });
    });
    if (in.size() < 3) return total;
    return total + alg.read(in[2], i.subspan(1, 1));
  }
  /// What each input place gives to each tap and output channel, as a product of matrices, added to
  /// where it belongs.
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
                    std::span<double> out) {
    const auto &x = in[0], &w = in[1];
    int64_t groups = at.ints[3][0], inputs = w.dim(0) / groups, places = x.strides[1],
            taps = w.strides[0], room = 1;  // taps: of all output channels of the group
    for (size_t d = 2; d < shape.size(); ++d) room *= shape[d];
    parallel_for(static_cast<size_t>(shape[0] * groups), default_threads(), [&](size_t task) {
      auto t = static_cast<int64_t>(task);
      int64_t group = t % groups, n = t / groups;
      double* result = out.data() + t * w.dim(1) * room;
      for (int64_t o = 0; o < w.dim(1); ++o)
        std::fill_n(result + o * room, room, in.size() < 3 ? 0 : in[2].data[group * w.dim(1) + o]);
      std::vector<double> weight(static_cast<size_t>(taps * inputs));  // transposed
      for (int64_t c = 0; c < inputs; ++c)
        for (int64_t k = 0; k < taps; ++k)
          weight[static_cast<size_t>(k * inputs + c)] = w.data[(group * inputs + c) * taps + k];
      std::vector<double> gives(static_cast<size_t>(taps * places));
      multiply(weight.data(), inputs, x.data + (n * x.dim(1) + group * inputs) * places, places,
               gives.data(), places, taps, inputs, places);
      for (int64_t k = 0; k < taps; ++k)
        add_tap(x, w, at, shape, k, {gives.data() + k * places, static_cast<size_t>(places)},
                result);
    });
  }
  /// Adds what the weights' element `tap` of an input channel gives, for all places of the input.
  static void add_tap(const NumTensor<double>& x, const NumTensor<double>& w,
                      const Attrs<int64_t>& at, std::span<const int64_t> shape, int64_t tap,
                      std::span<const double> gives, double* result) {
    for (size_t p = 0; p < gives.size(); ++p) {
      auto rest = static_cast<int64_t>(p);
      int64_t offset = 0, step = 1;
      bool inside = true;
      for (int d = x.rank() - 1; d >= 2; rest /= x.dim(d--)) {
        auto axis = static_cast<size_t>(d) - 2;
        int64_t k = tap / w.strides[static_cast<size_t>(d)] % w.dim(d),
                size = shape[static_cast<size_t>(d)];
        int64_t q = rest % x.dim(d) * at.ints[0][axis] + k * at.ints[2][axis] - at.ints[1][axis];
        inside = inside && q >= 0 && q < size;
        offset += q * step;
        step *= size;
      }
      if (inside) result[tap / w.strides[1] * step + offset] += gives[p];
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
    auto more = output_padding(n, kernel.size());
    auto window = onnx_transposed_window(n, kernel);
    if (!window || !more || !reach(n, kernel, *window, *more)) return std::nullopt;
    OnnxImport r{{{window->strides,
                   window->pads,
                   window->dilations,
                   {Poly(n.integer("group", 1))},
                   polys(*more)},
                  {}},
                 {0, 1}};
    if (n.inputs.size() > 2 && n.inputs[2].present) r.operands.push_back(2);
    return r;
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    if (has_zero(*in[0].shape)) return error("ConvTranspose of nothing does not run");
    ASSIGN_OR_RETURN(auto strides, numbers("strides", at.ints[0]));
    ASSIGN_OR_RETURN(auto more, numbers("output_padding", at.ints[4]));
    for (size_t d = 0; d < more.size(); ++d)
      if (more[d] >= strides[d])
        return error("ConvTranspose with output padding as large as the stride does not run");
    return export_by_name(define<ConvTranspose>(), at, in, opset);
  }
  static std::vector<Sample> samples() {
    return {{{{1, 2, 3, 4}, {2, 3, 3, 3}}, {{{1, 1}, {1, 1, 1, 1}, {1, 1}, {1}, {0, 0}}, {}}},
            {{{2, 4, 3, 3}, {4, 1, 3, 2}, {2}}, {{{2, 1}, {0, 1, 1, 0}, {1, 2}, {2}, {1, 0}}, {}}},
            {{{1, 2, 4}, {2, 3, 2}}, {{{3}, {1, 0}, {2}, {1}, {2}}, {}}}};
  }

 private:
  static std::optional<std::vector<int64_t>> output_padding(const OnnxNode& n, size_t axes) {
    std::vector<int64_t> more(axes, 0);
    if (const auto* given = n.ints("output_padding")) more = *given;
    for (int64_t p : more)
      if (p < 0 || p > INT32_MAX) return std::nullopt;
    return more.size() == axes ? std::optional(more) : std::nullopt;
  }
  /// With output_shape, sets the pads, and where none is enough the output padding, that make the
  /// output of that shape; false where that needs sizes that are not numbers, or an axis before
  /// them.
  static bool reach(const OnnxNode& n, const std::vector<int64_t>& kernel, OnnxWindow& window,
                    std::vector<int64_t>& more) {
    const auto* shape = n.ints("output_shape");
    if (shape == nullptr || shape->empty()) return true;
    if (shape->size() != kernel.size()) return false;
    bool upper = n.text("auto_pad", "NOTSET") == "SAME_UPPER";
    for (size_t d = 0; d < kernel.size(); ++d) {
      const Poly& size = (*n.inputs[0].type.shape)[d + 2];
      Poly whole = window.strides[d] * (size - Poly(1)) + Poly(more[d] + 1) +
                   window.dilations[d] * Poly(kernel[d] - 1);
      if (!whole.is_constant() || (*shape)[d] < 1 || (*shape)[d] > INT32_MAX) return false;
      int64_t total = whole.constant() - (*shape)[d];
      if (total < 0) more[d] -= total, total = 0;
      int64_t begin = upper ? total / 2 : total - total / 2;
      window.pads[d] = Poly(begin);
      window.pads[d + kernel.size()] = Poly(total - begin);
    }
    return true;
  }
  /// With auto_pad, the pads that make the output `stride` times as large as the input.
  static std::optional<OnnxWindow> onnx_transposed_window(const OnnxNode& n,
                                                          const std::vector<int64_t>& kernel) {
    auto more = output_padding(n, kernel.size());
    std::string mode = n.text("auto_pad", "NOTSET");
    bool given = n.has("output_shape");
    bool same_mode = !given && (mode == "SAME_UPPER" || mode == "SAME_LOWER");
    OnnxNode explicit_pads = n;
    if (same_mode || given) explicit_pads.attrs.erase("auto_pad");
    auto window = onnx_window(explicit_pads, kernel, CeilMode::Ignore);
    if (!more || !window) return std::nullopt;
    for (size_t d = 0; d < kernel.size() && same_mode; ++d) {
      int64_t stride = window->strides[d].constant(), dilation = window->dilations[d].constant();
      int64_t total = (*more)[d] + dilation * (kernel[d] - 1) + 1 - stride;
      if (total < 0) return std::nullopt;
      int64_t begin = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      window->pads[d] = Poly(begin);
      window->pads[d + kernel.size()] = Poly(total - begin);
    }
    return window;
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(conv_transpose, ConvTranspose)

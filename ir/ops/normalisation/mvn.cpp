#include "ir/ops/normalisation/moments.h"

namespace regraft::ops {

// out[i] = (x[i] - mean) / (sqrt(variance) + 10^-9) with mean and variance over the axes
struct MeanVarianceNorm {
  static constexpr std::string_view name = "mean-variance-norm";
  static constexpr std::string_view onnx[] = {"MeanVarianceNormalization"};
  static constexpr Work work = Work::Reduction;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"axes", Length::Any, std::nullopt, true, IntKind::Axis}};
  static constexpr TypeSupport types[] = {{DType::F32, 9, 9},
                                          {DType::F16, kNever, kNever},
                                          {DType::F64, kNever, kNever},
                                          {DType::BF16, kNever, kNever}};
  template <class I>
  static std::vector<char> normalised_axes(const Attrs<I>& at, int rank) {
    std::vector<char> yes(static_cast<size_t>(rank), 0);
    for (const I& a : at.ints[0]) yes[static_cast<size_t>(axis_of(fixed(a), rank))] = 1;
    return yes;
  }
  OP_SHAPES {
    for (const auto& a : at.ints[0])
      if (!axis_fits(fixed(a), static_cast<int>(in[0].size())))
        return error("mean-variance-norm: no such axis");
    return Shapes<A>{in[0]};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    const auto& x = in[0];
    auto inside = normalised_axes(at, x.rank());
    Indices<I> extents, from(i);
    for (int d = 0; d < x.rank(); ++d)
      if (inside[static_cast<size_t>(d)]) extents.push_back(x.dim(d));
    auto m = moments_over(alg, extents, [&](std::span<const I> k) {
      for (int d = 0, next = 0; d < x.rank(); ++d)
        if (inside[static_cast<size_t>(d)]) from[d] = k[static_cast<size_t>(next++)];
      return alg.read(x, from);
    });
    auto size = alg.apply(Fn::Sqrt, m.variance) + alg.constant(1, 1'000'000'000);
    return minus(alg, alg.read(x, i), m.mean) * alg.apply(Fn::Recip, size);
  }
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
                    std::span<double> out) {
    Groups groups(shape, normalised_axes(at, in[0].rank()));
    std::vector<double> mean(static_cast<size_t>(groups.count), 0), variance = mean;
    double share = static_cast<double>(groups.count) / static_cast<double>(out.size());
    auto group = [&](size_t k) { return static_cast<size_t>(groups.of[k]); };
    for (size_t k = 0; k < out.size(); ++k) mean[group(k)] += in[0].data[k] * share;
    for (size_t k = 0; k < out.size(); ++k) {
      out[k] = in[0].data[k] - mean[group(k)];
      variance[group(k)] += out[k] * out[k] * share;
    }
    for (size_t k = 0; k < out.size(); ++k) out[k] /= std::sqrt(variance[group(k)]) + 1e-9;
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    std::vector<int64_t> axes = {0, 2, 3};
    if (const auto* given = n.ints("axes")) axes = *given;
    return OnnxImport{{{polys(axes)}, {}}, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    if (opset >= 13) return error("ONNX's checker takes no MeanVarianceNormalization of opset 13");
    if (at.ints[0].empty()) return error("MeanVarianceNormalization over no axis");
    if (has_zero(*in[0].shape)) return error("MeanVarianceNormalization of nothing does not run");
    return export_by_name(define<MeanVarianceNorm>(), at, in, opset);
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3, 2, 2}}, {{{0, 2, 3}}, {}}}, {{{3, 4}}, {{{-1}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(mvn, MeanVarianceNorm)

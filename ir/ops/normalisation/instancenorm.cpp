#include "ir/ops/normalisation/moments.h"

namespace regraft::ops {

// out[n, c, p..] = (x[n, c, p..] - mean) / sqrt(variance + epsilon) * scale[c] + bias[c]
// with mean and variance of x[n, c] over its places; operands: x, scale, bias
struct InstanceNorm {
  static constexpr std::string_view name = "instancenorm";
  static constexpr std::string_view onnx[] = {"InstanceNormalization"};
  static constexpr Work work = Work::Reduction;
  static constexpr int arity = 3;
  static constexpr RealAttr reals[] = {{"epsilon", double{1e-5F}}};
  static constexpr TypeSupport types[] = {
      {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, kNever}, {DType::BF16, 22, kNever}};
  OP_SHAPES {
    if (in[0].size() < 3) return error("instancenorm: no spatial axis");
    for (size_t k : {1, 2}) {
      if (in[k].size() != 1) return error("instancenorm: scale or bias is not a vector");
      alg.require(in[k][0] == in[0][1]);
    }
    return Shapes<A>{in[0]};
  }
  OP_ROW {
    using I = typename A::Index;
    const auto& x = in[0];
    Indices<I> extents, from(i);
    for (int d = 2; d < x.rank(); ++d) extents.push_back(x.dim(d));
    return moments_over(alg, extents, [&](std::span<const I> k) {
      for (size_t d = 0; d < k.size(); ++d) from[static_cast<int>(d) + 2] = k[d];
      return alg.read(x, from);
    });
  }
  static bool same_row(const Attrs<int64_t>&, Position<Reals> i, Position<Reals> j) {
    return alike_before(2, i, j);
  }
  OP_IN_ROW {
    auto c = i.subspan(1, 1);
    return normalised(alg, alg.read(in[0], i), row, at.reals[0]) * alg.read(in[1], c) +
           alg.read(in[2], c);
  }
  OP_ELEMENT_IN_ROW
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
                    std::span<double> out) {
    int64_t size = in[0].strides[1], channels = shape[1];
    auto channel = [&](const double* of, int64_t k) { return of[k / size % channels]; };
    normalise_rows(
        in[0].data, out, size, at.reals[0].value, [&](int64_t k) { return channel(in[1].data, k); },
        [&](int64_t k) { return channel(in[2].data, k); });
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    if (has_zero(*in[0].shape)) return error("InstanceNormalization of nothing does not run");
    return export_by_name(define<InstanceNorm>(), at, in, opset);
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3, 2, 2}, {3}, {3}}, {{}, {{0.0078125, nullptr}}}},
            {{{1, 2, 4}, {2}, {2}}, {{}, {{1, nullptr}}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(instancenorm, InstanceNorm)

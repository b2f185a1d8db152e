#include "ir/ops/normalisation/moments.h"

namespace regraft::ops {

// out[b.., i..] = x[b.., i..] / sqrt(mean of x * x + epsilon) * scale[i..]
// with the mean over the axes from `axis` on; operands: x, scale
struct RmsNorm {
  static constexpr std::string_view name = "rmsnorm";
  static constexpr std::string_view onnx[] = {"RMSNormalization", "SimplifiedLayerNormalization"};
  static constexpr Work work = Work::Reduction;
  static constexpr Fusion fusion = Fusion::AfterSum;
  static constexpr int arity = 2;
  static constexpr IntAttr ints[] = {{"axis", Length::One, -1, true, IntKind::Axis}};
  static constexpr RealAttr reals[] = {{"epsilon", double{1e-5F}}};
  static constexpr TypeSupport types[] = {
      {DType::F32, 23, 23}, {DType::F16, 23, 23}, {DType::F64, 23, 23}, {DType::BF16, 23, kNever}};
  OP_SHAPES {
    const auto &x = in[0], &scale = in[1];
    if (!axis_fits(fixed(at.ints[0][0]), static_cast<int>(x.size())))
      return error("rmsnorm: no such axis");
    if (scale.size() > x.size()) return error("rmsnorm: scale has a higher rank than the data");
    for (size_t d = 1; d <= scale.size(); ++d)
      if (const auto& size = scale[scale.size() - d]; !is_one(size))
        alg.require(size == x[x.size() - d]);
    return Shapes<A>{x};
  }
  OP_ROW {
    using I = typename A::Index;
    const auto& x = in[0];
    int axis = axis_of(fixed(at.ints[0][0]), x.rank());
    Indices<I> extents, from(i);
    for (int d = axis; d < x.rank(); ++d) extents.push_back(x.dim(d));
    auto square = mean_over(alg, extents, [&](std::span<const I> k) {
      for (size_t d = 0; d < k.size(); ++d) from[axis + static_cast<int>(d)] = k[d];
      auto v = alg.read(x, from);
      return v * v;
    });
    return alg.apply(Fn::Sqrt, square + alg.real(at.reals[0]));
  }
  static bool same_row(const Attrs<int64_t>& at, Position<Reals> i, Position<Reals> j) {
    return alike_before(axis_of(at.ints[0][0], static_cast<int>(i.size())), i, j);
  }
  OP_IN_ROW {
    return alg.read(in[0], i) * alg.apply(Fn::Recip, row) * read_broadcast(alg, in[1], i);
  }
  OP_ELEMENT_IN_ROW
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
                    std::span<double> out) {
    const auto &x = in[0], &scale = in[1];
    int axis = axis_of(at.ints[0][0], x.rank());
    int64_t size = 1;
    for (int d = axis; d < x.rank(); ++d) size *= x.dim(d);
    auto factor_at = [&](int64_t k) {  // of the scale, for element k
      int64_t offset = 0;
      for (int d = x.rank() - 1, e = scale.rank() - 1; e >= 0; --d, --e) {
        if (scale.dim(e) != 1)
          offset += k % shape[static_cast<size_t>(d)] * scale.strides[static_cast<size_t>(e)];
        k /= shape[static_cast<size_t>(d)];
      }
      return scale.data[offset];
    };
    if (size == 0) return;
    parallel_for(out.size() / static_cast<size_t>(size), default_threads(), [&](size_t row) {
      int64_t first = static_cast<int64_t>(row) * size;
      double square = 0;
      for (int64_t k = first; k < first + size; ++k) square += x.data[k] * x.data[k];
      double by = 1 / std::sqrt(square / static_cast<double>(size) + at.reals[0].value);
      for (int64_t k = first; k < first + size; ++k)
        out[static_cast<size_t>(k)] = x.data[k] * by * factor_at(k);
    });
  }
  // The second is onnxruntime's in the standard's domain, where ONNX's checker refuses it: it is
  // read, and never made.
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    if (n.outputs != 1 || n.integer("stash_type", 1) != 1) return std::nullopt;
    return OnnxImport{
        {{{Poly(n.integer("axis", -1))}}, {{n.real("epsilon", reals[0].fallback), nullptr}}},
        {0, 1}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    if (has_zero(*in[0].shape)) return error("RMSNormalization of nothing does not run");
    return export_by_name(define<RmsNorm>(), at, in, opset);
  }
  static std::vector<Sample> samples() {
    return {{{{2, 4}, {4}}, {{{-1}}, {{0.0078125, nullptr}}}},
            {{{2, 2, 3}, {2, 3}}, {{{1}}, {{1, nullptr}}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(rmsnorm, RmsNorm)

#include "ir/ops/onnxruntime/skip.h"

namespace regraft::ops {

// s = x + skip + bias; out 0 = s / sqrt(mean of s * s + epsilon) * scale, with the mean over the
// last axis; out 1 = s. Operands: x, skip, scale, and maybe bias.
struct SkipRmsNorm : Skip {
  static constexpr std::string_view name = "skip-rmsnorm";
  static constexpr std::string_view onnx[] = {"com.microsoft:SkipSimplifiedLayerNormalization"};
  static constexpr int min_arity = 3, max_arity = 4;
  OP_SHAPES { return shapes(alg, in, name); }
  OP_ELEMENT {
    auto value = [&](Position<A> p) { return sum<A>(alg, in, p, 3); };
    if (out == 1) return value(i);
    auto squared = [&](Position<A> p) {
      auto v = value(p);
      return v * v;
    };
    auto square = mean_over(alg, row_of<A>(in), of_row<A>(in, i, squared));
    auto size = alg.apply(Fn::Sqrt, square + alg.real(at.reals[0]));
    return value(i) * alg.apply(Fn::Recip, size) * alg.read(in[2], i.last(1));
  }
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
                    std::span<double> out) {
    auto sum = sums(in, shape, 3);
    auto size = static_cast<size_t>(shape.back());
    for (size_t first = 0; first < out.size(); first += size) {
      double square = 0;
      for (size_t k = 0; k < size; ++k) square += sum[first + k] * sum[first + k];
      double by = 1 / std::sqrt(square / static_cast<double>(size) + at.reals[0].value);
      for (size_t k = 0; k < size; ++k) out[first + k] = sum[first + k] * by * in[2].data[k];
    }
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) { return import(n, 4); }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    Opset) {
    return write(onnx[0], at, in);
  }
  static std::vector<Sample> samples() {
    return {{{{2, 4}, {2, 4}, {4}}, {{}, {{0.0078125, nullptr}}}},
            {{{2, 2, 3}, {2, 2, 3}, {3}, {3}}, {{}, {{1, nullptr}}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(skip_rmsnorm, SkipRmsNorm)

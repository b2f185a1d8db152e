#include "ir/ops/onnxruntime/skip.h"

namespace regraft::ops {

// s = x + skip + bias; out 0 = (s - mean) / sqrt(variance + epsilon) * scale + shift, with mean and
// variance over the last axis; out 1 = s. Operands: x, skip, scale, and maybe shift and bias.
struct SkipLayerNorm : Skip {
  static constexpr std::string_view name = "skip-layernorm";
  static constexpr std::string_view onnx[] = {"com.microsoft:SkipLayerNormalization"};
  static constexpr int min_arity = 3, max_arity = 5;
  OP_SHAPES { return shapes(alg, in, name); }
  OP_ELEMENT {
    auto value = [&](Position<A> p) { return sum<A>(alg, in, p, 4); };
    if (out == 1) return value(i);
    auto moments = moments_over(alg, row_of<A>(in), of_row<A>(in, i, value));
    auto y = normalised(alg, value(i), moments, at.reals[0]) * alg.read(in[2], i.last(1));
    return in.size() < 4 ? y : y + alg.read(in[3], i.last(1));
  }
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
                    std::span<double> out) {
    int64_t size = shape.back();
    auto scale = [&](int64_t k) { return in[2].data[k % size]; };
    auto shift = [&](int64_t k) { return in.size() < 4 ? 0 : in[3].data[k % size]; };
    normalise_rows(sums(in, shape, 4).data(), out, size, at.reals[0].value, scale, shift);
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) { return import(n, 5); }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    Opset) {
    return write(onnx[0], at, in);
  }
  static std::vector<Sample> samples() {
    return {{{{2, 4}, {2, 4}, {4}, {4}}, {{}, {{0.0078125, nullptr}}}},
            {{{2, 2, 3}, {2, 2, 3}, {3}}, {{}, {{1, nullptr}}}},
            {{{2, 2, 3}, {2, 2, 3}, {3}, {3}, {3}}, {{}, {{0.5, nullptr}}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(skip_layernorm, SkipLayerNorm)

#pragma once
// The formula of layer normalisation, which its form with all outputs shares.
#include <cmath>

#include "base/parallel.h"
#include "ir/ops/define.h"

namespace regraft::ops {

// out[b.., i..] = (x[b.., i..] - mean) / sqrt(variance + epsilon) * scale[i..] + bias[i..]
// with mean and variance over the axes from `axis` on; operands: x, scale, and maybe bias
struct LayerNorm {
  static constexpr std::string_view name = "layernorm";
  static constexpr std::string_view onnx[] = {"LayerNormalization"};
  static constexpr Work work = Work::Reduction;
  static constexpr Fusion fusion = Fusion::AfterSum;
  static constexpr int min_arity = 2, max_arity = 3;
  static constexpr IntAttr ints[] = {{"axis", Length::One, -1, true, IntKind::Axis}};
  static constexpr RealAttr reals[] = {{"epsilon", double{1e-5F}}};
  static constexpr TypeSupport types[] = {
      {DType::F32, 17, 17}, {DType::F16, 17, 17}, {DType::F64, 17, 17}, {DType::BF16, 17, 17}};
  OP_SHAPES {
    const auto& x = in[0];
    if (!axis_fits(fixed(at.ints[0][0]), static_cast<int>(x.size())))
      return error("layernorm: no such axis");
    for (size_t k = 1; k < in.size(); ++k) {
      if (in[k].size() > x.size())
        return error("layernorm: scale or bias has a higher rank than the data");
      for (size_t d = 1; d <= in[k].size(); ++d) {
        const auto& size = in[k][in[k].size() - d];
        if (!is_one(size)) alg.require(size == x[x.size() - d]);
      }
    }
    return Shapes<A>{x};
  }
  /// Mean and 1 / sqrt(variance + epsilon).
  template <class S>
  struct Row {
    S mean, scale;
  };
  OP_ROW {
    using I = typename A::Index;
    const auto& x = in[0];
    int axis = axis_of(fixed(at.ints[0][0]), x.rank());
    Indices<I> extents;
    I count(1);
    for (int d = axis; d < x.rank(); ++d) {
      extents.push_back(x.dim(d));
      count = count * x.dim(d);
    }
    Indices<I> from(i);
    auto mean_of = [&](auto&& value) {
      return sum_over(alg, std::span<const I>(extents),
                      [&](std::span<const I> k) {
                        for (size_t d = 0; d < k.size(); ++d)
                          from[axis + static_cast<int>(d)] = k[d];
                        return value(alg.read(x, from));
                      }) *
             alg.recip(count);
    };
    auto mean = mean_of([](const auto& v) { return v; });
    auto variance = mean_of([&](const auto& v) {
      auto d = minus(alg, v, mean);
      return d * d;
    });
    auto scale = alg.apply(Fn::Recip, alg.apply(Fn::Sqrt, variance + alg.real(at.reals[0])));
    return Row<typename A::Scalar>{mean, scale};
  }
  static bool same_row(const Attrs<int64_t>& at, Position<Reals> i, Position<Reals> j) {
    return alike_before(axis_of(at.ints[0][0], static_cast<int>(i.size())), i, j);
  }
  OP_IN_ROW {
    auto y = minus(alg, alg.read(in[0], i), row.mean) * row.scale * read_broadcast(alg, in[1], i);
    return in.size() < 3 ? y : y + read_broadcast(alg, in[2], i);
  }
  OP_ELEMENT_IN_ROW
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
                    std::span<double> out) {
    const auto& x = in[0];
    int axis = axis_of(at.ints[0][0], x.rank());
    int64_t size = 1;
    for (int d = axis; d < x.rank(); ++d) size *= x.dim(d);
    auto broadcast_element = [&](const NumTensor<double>& t, int64_t place) {  // of scale or bias
      int64_t offset = 0;
      for (int d = x.rank() - 1, e = t.rank() - 1; e >= 0; --d, --e) {
        int64_t extent = shape[static_cast<size_t>(d)];
        if (t.dim(e) != 1) offset += place % extent * t.strides[static_cast<size_t>(e)];
        place /= extent;
      }
      return t.data[offset];
    };
    if (size == 0) return;
    parallel_for(
        out.size() / static_cast<size_t>(size), default_threads(),
        [&](size_t line) {
          const double* row = x.data + static_cast<int64_t>(line) * size;
          double mean = 0, variance = 0;
          for (int64_t k = 0; k < size; ++k) mean += row[k];
          mean /= static_cast<double>(size);
          for (int64_t k = 0; k < size; ++k) variance += (row[k] - mean) * (row[k] - mean);
          double scale = 1 / std::sqrt(variance / static_cast<double>(size) + at.reals[0].value);
          for (int64_t k = 0; k < size; ++k) {
            int64_t place = static_cast<int64_t>(line) * size + k;
            double y = (row[k] - mean) * scale * broadcast_element(in[1], place);
            out[static_cast<size_t>(place)] =
                in.size() < 3 ? y : y + broadcast_element(in[2], place);
          }
        },
        16);
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    return n.outputs == 1 ? import(n) : std::nullopt;
  }
  static std::optional<OnnxImport> import(const OnnxNode& n) {
    if (n.integer("stash_type", 1) != 1 || n.inputs.size() < 2) return std::nullopt;
    OnnxImport r{
        {{{Poly(n.integer("axis", -1))}}, {{n.real("epsilon", reals[0].fallback), nullptr}}},
        {0, 1}};
    if (n.inputs.size() > 2 && n.inputs[2].present) r.operands.push_back(2);
    return r;
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    auto axis = static_cast<size_t>(fixed(at.ints[0][0]));
    if (has_zero(std::span(*in[0].shape).subspan(axis)))
      return error("LayerNormalization of nothing does not run");
    return export_by_name(define<LayerNorm>(), at, in, opset);
  }
  static std::vector<Sample> samples() {
    return {{{{2, 4}, {4}, {4}}, {{{-1}}, {{0.0078125, nullptr}}}},
            {{{2, 2, 3}, {2, 3}}, {{{1}}, {{1, nullptr}}}}};
  }
};

}  // namespace regraft::ops

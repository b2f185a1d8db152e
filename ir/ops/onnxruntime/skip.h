#pragma once
// Normalisations of a sum: the sum over the last axis' elements, of x, a skip connection of the
// same shape, and maybe a bias vector. Result 0 is the normalised sum, result 1 the sum itself.
// Source: com.microsoft.SkipLayerNormalization, SkipSimplifiedLayerNormalization.
#include "ir/ops/normalisation/moments.h"

namespace regraft::ops {

struct Skip {
  static constexpr Work work = Work::Reduction;
  static constexpr int outputs = 2;
  static constexpr bool commutative = true;
  static constexpr RealAttr reals[] = {{"epsilon", double{1e-12F}}};
  static constexpr std::span<const TypeSupport> types = {};
  static constexpr DType microsoft[] = {DType::F32, DType::F16};

  template <Algebra A>
  static Result<Shapes<A>> shapes(A& alg, const Shapes<A>& in, std::string_view what) {
    const auto& x = in[0];
    if (x.size() < 2 || x.size() > 3 || in[1].size() != x.size())
      return error(std::string(what) + ": ranks of the data and the skip connection do not fit");
    for (size_t d = 0; d < x.size(); ++d) alg.require(in[1][d] == x[d]);
    for (size_t k = 2; k < in.size(); ++k) {
      if (in[k].size() != 1) return error(std::string(what) + ": a weight is not a vector");
      alg.require(in[k][0] == x.back());
    }
    return Shapes<A>{x, x};
  }
  /// The sum at i; `bias` is the operand, or beyond the last.
  template <Algebra A>
  static typename A::Scalar sum(A& alg, Tensors<A> in, Position<A> i, size_t bias) {
    auto s = alg.read(in[0], i) + alg.read(in[1], i);
    return bias < in.size() ? s + alg.read(in[bias], i.last(1)) : s;
  }
  /// value(k) for the elements of the row of i.
  template <Algebra A, class F>
  static auto of_row(Tensors<A> in, Position<A> i, F&& value) {
    return [from = Indices<typename A::Index>(i), last = in[0].rank() - 1,
            &value](std::span<const typename A::Index> k) mutable {
      from[last] = k[0];
      return value(Position<A>(from));
    };
  }
  template <Algebra A>
  static Indices<typename A::Index> row_of(Tensors<A> in) {
    Indices<typename A::Index> extents;
    extents.push_back(in[0].dim(in[0].rank() - 1));
    return extents;
  }

  /// All elements of result 1.
  static std::vector<double> sums(Tensors<Reals> in, std::span<const int64_t> shape, size_t bias) {
    size_t n = 1, width = static_cast<size_t>(shape.back());
    for (int64_t d : shape) n *= static_cast<size_t>(d);
    std::vector<double> sum(n);
    for (size_t k = 0; k < n; ++k)
      sum[k] = in[0].data[k] + in[1].data[k] + (bias < in.size() ? in[bias].data[k % width] : 0);
    return sum;
  }
  static std::optional<OnnxImport> import(const OnnxNode& n, size_t inputs) {
    OnnxImport r{{{}, {{n.real("epsilon", reals[0].fallback), nullptr}}}, {}, {0, 3}};
    bool ended = false;
    for (size_t k = 0; k < n.inputs.size(); ++k) {
      if (n.inputs[k].present && (ended || k >= inputs)) return std::nullopt;
      ended = !n.inputs[k].present;
      if (n.inputs[k].present) r.operands.push_back(static_cast<int>(k));
    }
    return r;
  }
  static Result<OnnxExport> write(std::string_view type, const Attrs<Poly>& at,
                                  const std::vector<TensorType>& in) {
    if (has_zero(*in[0].shape)) return error(std::string(type) + " of nothing does not run");
    OnnxExport r;
    r.type = type;
    r.inputs = operand_inputs(static_cast<int>(in.size()));
    r.attrs["epsilon"].floats = {at.reals[0].value};
    r.results = {0, 3};
    return r;
  }
};

}  // namespace regraft::ops

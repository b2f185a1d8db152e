#include "ir/ops/define.h"

namespace regraft::ops {

// out[i] = exp(s[i]) / sum of exp(s[k]) over the k that differ from i in the axes from `axis` on,
// with s = x + bias, where the bias is broadcast. Source: com.microsoft.BiasSoftmax, which
// onnxruntime has for graphics cards only.
struct BiasSoftmax {
  static constexpr std::string_view name = "bias-softmax";
  static constexpr std::string_view onnx[] = {"com.microsoft:BiasSoftmax"};
  static constexpr Work work = Work::Reduction;
  static constexpr int arity = 2;
  static constexpr IntAttr ints[] = {{"axis", Length::One, 1, true, IntKind::Axis}};
  static constexpr TypeSupport types[] = {{DType::F32, kNever, kNever}};
  OP_SHAPES {
    const auto &x = in[0], &bias = in[1];
    if (!axis_fits(fixed(at.ints[0][0]), static_cast<int>(x.size())) || bias.size() > x.size())
      return error("bias-softmax: no such axis, or the bias has a higher rank than the data");
    for (size_t d = 1; d <= bias.size(); ++d)
      if (const auto& size = bias[bias.size() - d]; !is_one(size))
        alg.require(size == x[x.size() - d]);
    return Shapes<A>{x};
  }
  /// s at i, and extents of the axes that are summed.
  template <Algebra A>
  struct Row {
    A& alg;
    Tensors<A> in;
    int axis;
    Indices<typename A::Index> extents, from;
    Row(A& a, Tensors<A> operands, const Attrs<typename A::Index>& at, Position<A> i)
        : alg(a), in(operands), axis(axis_of(fixed(at.ints[0][0]), operands[0].rank())), from(i) {
      for (int d = axis; d < in[0].rank(); ++d) extents.push_back(in[0].dim(d));
    }
    typename A::Scalar at(Position<A> p) {
      return alg.read(in[0], p) + read_broadcast(alg, in[1], p);
    }
    typename A::Scalar along(std::span<const typename A::Index> k) {
      for (size_t d = 0; d < k.size(); ++d) from[axis + static_cast<int>(d)] = k[d];
      return at(from);
    }
  };
  OP_ELEMENT {
    using I = typename A::Index;
    Row<A> row(alg, in, at, i);
    auto total = sum_over(alg, std::span<const I>(row.extents),
                          [&](std::span<const I> k) { return alg.apply(Fn::Exp, row.along(k)); });
    return alg.apply(Fn::Exp, row.at(i)) * alg.apply(Fn::Recip, total);
  }
  OP_FLOAT_ELEMENT {
    using I = typename A::Index;
    Row<A> row(alg, in, at, i);
    std::span<const I> extents(row.extents);
    auto largest = largest_over(alg, extents, [&](std::span<const I> k) { return row.along(k); });
    auto e = [&](const auto& s) { return alg.apply(Fn::Exp, minus(alg, s, largest)); };
    auto total = sum_over(alg, extents, [&](std::span<const I> k) { return e(row.along(k)); });
    return e(row.at(i)) * alg.apply(Fn::Recip, total);
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    return OnnxImport{{{{Poly(n.integer("axis", 1))}}, {}}, {0, 1}};
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3, 4}, {2, 1, 4}}, {{{2}}, {}}}, {{{2, 2, 3}, {1, 2, 3}}, {{{1}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(bias_softmax, BiasSoftmax)

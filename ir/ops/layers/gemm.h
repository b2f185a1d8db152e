#pragma once
// The formula of gemm, which the forms that runtimes fuse share.
#include "ir/ops/define.h"

namespace regraft::ops {

// out[m, n] = alpha * sum over k of x'[m, k] * y'[k, n] + beta * c[m, n], with c broadcast and
// x' = x, or x transposed when transA is 1; y' likewise
struct Gemm {
  static constexpr std::string_view name = "gemm";
  static constexpr std::string_view onnx[] = {"Gemm"};
  static constexpr Work work = Work::Product;
  static constexpr Fusion fusion = Fusion::Anchor;
  static constexpr int min_arity = 2, max_arity = 3;
  static constexpr IntAttr ints[] = {{"transA", Length::One, 0, true},
                                     {"transB", Length::One, 0, true}};
  static constexpr RealAttr reals[] = {{"alpha", 1}, {"beta", 1}};
  template <class I>
  static bool flag(const Attrs<I>& at, size_t k) {
    return fixed(at.ints[k][0]) != 0;
  }
  OP_SHAPES {
    if (in[0].size() != 2 || in[1].size() != 2) return error("gemm: an operand is not a matrix");
    size_t m = flag(at, 0) ? 1 : 0, n = flag(at, 1) ? 0 : 1;
    alg.require(in[0][1 - m] == in[1][1 - n]);
    ShapeOf<typename A::Index> out{in[0][m], in[1][n]};
    if (in.size() == 3) {
      if (in[2].size() > 2) return error("gemm: operand C has rank above 2");
      for (size_t d = 0; d < in[2].size(); ++d) {
        const auto& size = in[2][in[2].size() - 1 - d];
        if (!is_one(size)) alg.require(size == out[1 - d]);
      }
    }
    return Shapes<A>{out};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    const auto &x = in[0], &y = in[1];
    auto product = alg.sum(x.dim(flag(at, 0) ? 0 : 1), [&](const auto& k) {
      std::array<I, 2> p = {i[0], k}, q = {k, i[1]};
      if (flag(at, 0)) std::swap(p[0], p[1]);
      if (flag(at, 1)) std::swap(q[0], q[1]);
      return alg.read(x, p) * alg.read(y, q);
    });
    if (at.reals[0].value != 1 || at.reals[0].symbol) product = alg.real(at.reals[0]) * product;
    if (in.size() < 3) return product;
    auto c = read_broadcast(alg, in[2], i);
    if (at.reals[1].value != 1 || at.reals[1].symbol) c = alg.real(at.reals[1]) * c;
    return product + c;
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    if (in.size() < 3 && opset < 11) return error("Gemm without operand C needs opset 11");
    const Poly& inner = (*in[0].shape)[flag(at, 0) ? 0 : 1];
    if (inner.is_zero()) return error("Gemm over nothing does not run");  // it forgets beta
    return export_by_name(define<Gemm>(), at, in, opset);
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}, {3, 4}}, {{{0}, {0}}, {{1, nullptr}, {1, nullptr}}}},
            {{{3, 2}, {4, 3}, {4}}, {{{1}, {1}}, {{0.5, nullptr}, {2, nullptr}}}}};
  }
};

}  // namespace regraft::ops

#include "ir/ops/normalisation/moments.h"

namespace regraft::ops {

// out[i] = x[i] / size, or 0 where size is 0; size is over k on the axis the sum of |x[k]| (p = 1)
// or the root of the sum of x[k] * x[k] (p = 2)
struct LpNorm {
  static constexpr std::string_view name = "lp-norm";
  static constexpr std::string_view onnx[] = {"LpNormalization"};
  static constexpr Work work = Work::Reduction;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"axis", Length::One, -1, true, IntKind::Axis},
                                     {"p", Length::One, 2, true}};
  static constexpr TypeSupport types[] = {
      {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, 1}, {DType::BF16, 22, kNever}};
  OP_SHAPES {
    if (!axis_fits(fixed(at.ints[0][0]), static_cast<int>(in[0].size())))
      return error("lp-norm: no such axis");
    if (fixed(at.ints[1][0]) != 1 && fixed(at.ints[1][0]) != 2)
      return error("lp-norm: p is not 1 or 2");
    return Shapes<A>{in[0]};
  }
  OP_ELEMENT {
    int axis = axis_of(fixed(at.ints[0][0]), in[0].rank());
    bool squares = fixed(at.ints[1][0]) == 2;
    Indices<typename A::Index> from(i);
    auto total = alg.sum(in[0].dim(axis), [&](const auto& k) {
      from[axis] = k;
      auto x = alg.read(in[0], from);
      return squares ? x * x : absolute(alg, x);
    });
    auto size = squares ? alg.apply(Fn::Sqrt, total) : total;
    auto quotient = [&] { return alg.read(in[0], i) * alg.apply(Fn::Recip, size); };
    return alg.choose(alg.apply(Fn::Step, size), quotient, [&] { return zero(alg); });
  }
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
                    std::span<double> out) {
    std::vector<char> summed(shape.size(), 0);
    summed[static_cast<size_t>(axis_of(at.ints[0][0], in[0].rank()))] = 1;
    Groups groups(shape, summed);
    bool squares = at.ints[1][0] == 2;
    std::vector<double> sizes(static_cast<size_t>(groups.count), 0);
    for (size_t k = 0; k < out.size(); ++k) {
      double x = in[0].data[k];
      sizes[static_cast<size_t>(groups.of[k])] += squares ? x * x : std::abs(x);
    }
    for (size_t k = 0; k < out.size(); ++k) {
      double size = sizes[static_cast<size_t>(groups.of[k])];
      out[k] = size == 0 ? 0 : in[0].data[k] / (squares ? std::sqrt(size) : size);
    }
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    return OnnxImport{{{{Poly(n.integer("axis", -1))}, {Poly(n.integer("p", 2))}}, {}}, {0}};
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}}, {{{-1}, {2}}, {}}}, {{{2, 3, 2}}, {{{1}, {1}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(lpnorm, LpNorm)

#include "ir/ops/define.h"

namespace regraft::ops {

// out[n, c, p..] = x[n, c, p..] / (bias + alpha / size * s)^beta, where s is the sum of x * x over
// the `size` channels around c that there are; a power b^beta is exp(beta * log(b))
struct Lrn {
  static constexpr std::string_view name = "lrn";
  static constexpr std::string_view onnx[] = {"LRN"};
  static constexpr Work work = Work::Reduction;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"size", Length::One, std::nullopt}};
  static constexpr RealAttr reals[] = {{"alpha", double{1e-4F}}, {"beta", 0.75}, {"bias", 1}};
  static constexpr TypeSupport types[] = {
      {DType::F32, 1, 1}, {DType::F16, 1, 1}, {DType::F64, 1, kNever}, {DType::BF16, 13, kNever}};
  OP_SHAPES {
    using I = typename A::Index;
    if (in[0].size() < 3) return error("lrn: no spatial axis");
    alg.require(I(1) <= at.ints[0][0]);
    return Shapes<A>{in[0]};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    const I& size = at.ints[0][0];
    Indices<I> from(i);
    I before = alg.floordiv(size - I(1), I(2));
    auto total = alg.sum(size, [&](const I& k) {
      I c = i[1] + k - before;
      from[1] = c;
      return alg.select(
          I(0) <= c && c < in[0].dim(1),
          [&] {
            auto x = alg.read(in[0], from);
            return x * x;
          },
          [&] { return zero(alg); });
    });
    auto base = alg.real(at.reals[2]) + alg.real(at.reals[0]) * alg.recip(size) * total;
    auto exponent = minus(alg, zero(alg), alg.real(at.reals[1]));
    return alg.read(in[0], i) * alg.apply(Fn::Exp, exponent * alg.apply(Fn::Log, base));
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    ASSIGN_OR_RETURN(auto size, numbers("size", at.ints[0]));
    if (in[0].shape->size() != 4) return error("LRN of other than images does not run");
    if (size[0] % 2 == 0) return error("LRN over an even number of channels does not run");
    return export_by_name(define<Lrn>(), at, in, opset);
  }
  static std::vector<Sample> samples() {
    return {{{{1, 4, 2, 2}}, {{{3}}, {{0.5, nullptr}, {0.75, nullptr}, {1, nullptr}}}},
            {{{2, 3, 1, 2}}, {{{5}}, {{1, nullptr}, {0.5, nullptr}, {2, nullptr}}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(lrn, Lrn)

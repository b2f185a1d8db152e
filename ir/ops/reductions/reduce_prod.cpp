#include "ir/ops/reductions/reduce.h"

namespace regraft::ops {

// out[i] = product over the axes of x: 0 where one is 0, else exp of the sum of log |x|, with the
// sign that the number of negative ones says
struct ReduceProd : Reduction {
  static constexpr std::string_view name = "reduce-prod";
  static constexpr std::string_view onnx[] = {"ReduceProd"};
  static constexpr Work work = Work::Reduction;
  template <Algebra A, class S = typename A::Scalar>
  static S is_negative(A& alg, const S& x) {
    return alg.apply(Fn::Step, minus(alg, zero(alg), x));
  }
  template <Algebra A, class S = typename A::Scalar>
  static S is_zero(A& alg, const S& x) {
    return minus(alg, minus(alg, alg.constant(1), is_negative(alg, x)), alg.apply(Fn::Step, x));
  }
  OP_ELEMENT {
    Box<A> box(in[0], at, i);
    auto total = [&](auto&& f) { return sum_of(alg, in[0], box, f); };
    auto zeros = total([&](const auto& x) { return is_zero(alg, x); });
    auto negative = total([&](const auto& x) { return is_negative(alg, x); });
    auto size = total([&](const auto& x) {
      return alg.choose(
          is_zero(alg, x), [&] { return zero(alg); },
          [&] { return alg.apply(Fn::Log, absolute(alg, x)); });
    });
    auto pairs = alg.apply(Fn::Floor, alg.constant(1, 2) * negative);
    auto odd = minus(alg, negative, alg.constant(2) * pairs);
    auto sign = minus(alg, alg.constant(1), alg.constant(2) * odd);
    return minus(alg, alg.constant(1), alg.apply(Fn::Step, zeros)) * sign *
           alg.apply(Fn::Exp, size);
  }
  // One after the other.
  OP_FLOAT_ELEMENT {
    Box<A> box(in[0], at, i);
    auto product = alg.constant(1);
    sum_of(alg, in[0], box, [&](const auto& x) {
      product = product * x;
      return zero(alg);
    });
    return product;
  }
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
                    std::span<double> out) {
    Reals alg;
    fill_with<&ReduceProd::float_element<Reals>, Reals>(alg, in, at, shape, 0, 0, out);
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) { return import(n); }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&,
                                    int opset) {
    return write("ReduceProd", 18, at, opset);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(reduce_prod, ReduceProd)

#include <cmath>

#include "ir/ops/elementwise/logic/logic.h"

namespace regraft::ops {

// out[i] = a[i] to the power of b[i], with broadcasting: exp(b log a) where a > 0, the same of -a
// with the sign of an integer power where a < 0, and a number there for no other b
struct Pow : Broadcasting {
  static constexpr std::string_view name = "pow";
  static constexpr std::string_view onnx[] = {"Pow"};
  static constexpr TypeSupport types[] = {
      {DType::F32, 7, 7}, {DType::F16, 7, 7}, {DType::F64, 7, 7}, {DType::BF16, 15, kNever}};
  /// Exponents may be integers.
  static Result<DType> typed(const OpDef& op, const Attrs<Poly>& at,
                             std::span<const DType> operands) {
    if (is_integer(operands[1]) && operands[1] != DType::Bool)
      return one_real_type(op, at, operands.first(1));
    return one_real_type(op, at, operands);
  }
  template <Algebra A, class S = typename A::Scalar>
  static S of_positive(A& alg, const S& a, const S& b) {
    return alg.apply(Fn::Exp, b * alg.apply(Fn::Log, a));
  }
  /// 1, or -1 where the integer b is odd.
  template <Algebra A, class S = typename A::Scalar>
  static S sign_of_power(A& alg, const S& b) {
    auto half = alg.apply(Fn::Floor, alg.constant(1, 2) * b);
    return minus(alg, alg.constant(1), alg.constant(2) * minus(alg, b, alg.constant(2) * half));
  }
  OP_ELEMENT {
    auto a = read_broadcast(alg, in[0], i), b = read_broadcast(alg, in[1], i);
    auto below = minus(alg, zero(alg), a);
    auto of_zero = [&] {
      return alg.choose(
          positive(alg, b), [&] { return zero(alg); },
          [&] {
            auto never = [&] { return alg.apply(Fn::Recip, a); };
            return alg.choose(
                same_number(alg, b, zero(alg)), [&] { return alg.constant(1); }, never);
          });
    };
    auto of_negative = [&] {
      auto whole = same_number(alg, b, alg.apply(Fn::Floor, b));
      return alg.choose(
          whole, [&] { return sign_of_power(alg, b) * of_positive(alg, below, b); },
          [&] { return alg.apply(Fn::Log, a); });
    };
    return alg.choose(
        positive(alg, a), [&] { return of_positive(alg, a, b); },
        [&] { return alg.choose(positive(alg, below), of_negative, of_zero); });
  }
  static double at_position(Reals& alg, Tensors<Reals> in, const Attrs<int64_t>&, Position<Reals> i,
                            int) {
    return std::pow(read_broadcast(alg, in[0], i), read_broadcast(alg, in[1], i));
  }
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
                    std::span<double> out) {
    Reals alg;
    fill_with<&Pow::at_position, Reals>(alg, in, at, shape, 0, 0, out);
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    DType exponent = in[1].dtype;
    if (exponent != in[0].dtype) {
      bool runs = exponent == DType::I32 || exponent == DType::I64;
      if (opset < 12 || !runs || in[0].dtype == DType::F16)
        return error("Pow of " + to_string(in[0].dtype) + " to " + to_string(exponent) +
                     " does not run");
    }
    return export_by_name(define<Pow>(), at, in, opset);
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(pow, Pow)

#pragma once
// Shared bodies of operators that act on each element alone.
#include "ir/ops/define.h"
#include "ir/ops/number_types.h"

namespace regraft::ops {

/// out[i] = f(x[i])
template <Fn F>
struct Elementwise {
  static constexpr int arity = 1;
  static constexpr Fusion fusion = Fusion::Pointwise;
  OP_SHAPES { return Shapes<A>{in[0]}; }
  OP_ELEMENT { return alg.apply(F, alg.read(in[0], i)); }
  static std::vector<Sample> samples() { return {{{{2, 3}}, {}}, {{{4}}, {}}, {{{}}, {}}}; }
};

/// |x| = max(x, 0) + max(-x, 0)
template <Algebra A, class S = typename A::Scalar>
S magnitude(A& alg, const S& x) {
  return alg.apply(Fn::Relu, x) + alg.apply(Fn::Relu, minus(alg, zero(alg), x));
}
/// The smaller one: -max(-a, -b).
template <Algebra A, class S = typename A::Scalar>
S smaller(A& alg, const S& a, const S& b) {
  return minus(alg, zero(alg), alg.larger(minus(alg, zero(alg), a), minus(alg, zero(alg), b)));
}
/// x, or slope * x where it is negative.
template <Algebra A, class S = typename A::Scalar>
S leaking(A& alg, const S& x, const S& slope) {
  return minus(alg, alg.apply(Fn::Relu, x), slope * alg.apply(Fn::Relu, minus(alg, zero(alg), x)));
}
/// exp(min(x, 0)) - 1, where min(x, 0) = -max(-x, 0).
template <Algebra A, class S = typename A::Scalar>
S falling(A& alg, const S& x) {
  S below = minus(alg, zero(alg), alg.apply(Fn::Relu, minus(alg, zero(alg), x)));
  return minus(alg, alg.apply(Fn::Exp, below), alg.constant(1));
}

/// log(1 + exp(x))
template <Algebra A, class S = typename A::Scalar>
S softplus(A& alg, const S& x) {
  return alg.apply(Fn::Log, alg.constant(1) + alg.apply(Fn::Exp, x));
}
/// The same as runtimes compute it: max(x, 0) + log(1 + exp(-|x|)).
template <Algebra A, class S = typename A::Scalar>
S stable_softplus(A& alg, const S& x) {
  return alg.apply(Fn::Relu, x) + softplus(alg, minus(alg, zero(alg), magnitude(alg, x)));
}

/// The exponent of a Pow node that is one number, which does not change the shape of its operand.
inline std::optional<double> constant_exponent(const OnnxNode& n) {
  auto exponent = n.constant_real(1);
  auto rank = rank_of(n, 0), of_exponent = rank_of(n, 1);
  bool fits = exponent && rank && of_exponent && *of_exponent <= *rank;
  return fits ? exponent : std::nullopt;
}

/// out[i] = a[i] o b[i], operands broadcast to the shape of the output
struct Broadcasting {
  static constexpr int arity = 2;
  static constexpr Fusion fusion = Fusion::Pointwise;
  OP_SHAPES { return Shapes<A>{broadcast(alg, in[0], in[1])}; }
  static std::vector<Sample> samples() {
    return {
        {{{2, 3}, {2, 3}}, {}}, {{{2, 3}, {3}}, {}}, {{{2, 1, 4}, {3, 1}}, {}}, {{{}, {2}}, {}}};
  }
};

}  // namespace regraft::ops

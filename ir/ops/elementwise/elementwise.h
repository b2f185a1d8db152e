#pragma once
// Shared bodies of operators that act on each element alone.
#include "ir/ops/define.h"

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

/// log(1 + exp(x))
template <Algebra A, class S = typename A::Scalar>
S softplus(A& alg, const S& x) {
  return alg.apply(Fn::Log, alg.constant(1) + alg.apply(Fn::Exp, x));
}
/// The same as runtimes compute it: max(x, 0) + log(1 + exp(-|x|)), |x| = max(x, 0) + max(-x, 0).
template <Algebra A, class S = typename A::Scalar>
S stable_softplus(A& alg, const S& x) {
  S positive = alg.apply(Fn::Relu, x);
  S size = positive + alg.apply(Fn::Relu, minus(alg, zero(alg), x));
  return positive + softplus(alg, minus(alg, zero(alg), size));
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

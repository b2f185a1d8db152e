#pragma once
// Operators on any number of operands, which are broadcast to one shape.
#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

struct Several {
  static constexpr int min_arity = 1, max_arity = 8;
  static constexpr Fusion fusion = Fusion::Pointwise;
  OP_SHAPES {
    auto out = in[0];
    for (size_t k = 1; k < in.size(); ++k) out = broadcast(alg, out, in[k]);
    return Shapes<A>{out};
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}, {3}, {2, 1}}, {}}, {{{4}}, {}}, {{{}, {2}, {3, 1}, {1}}, {}}};
  }
};

/// join(join(first, second), third) and so on, of the operands' elements at i.
template <Algebra A, class F>
typename A::Scalar over_operands(A& alg, Tensors<A> in, Position<A> i, F&& join) {
  auto x = read_broadcast(alg, in[0], i);
  for (size_t k = 1; k < in.size(); ++k) x = join(x, read_broadcast(alg, in[k], i));
  return x;
}

}  // namespace regraft::ops

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

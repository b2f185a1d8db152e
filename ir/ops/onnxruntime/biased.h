#pragma once
// Operators that add a vector along the last axis first. Source: onnxruntime's ContribOperators.
#include "ir/ops/define.h"

namespace regraft::ops {

/// Operands: x, and a bias of the size of its last axis.
struct Biased {
  static constexpr int arity = 2;
  static constexpr std::span<const TypeSupport> types = {};
  static constexpr DType microsoft[] = {DType::F32};
  OP_SHAPES {
    if (in[0].empty() || in[1].size() != 1)
      return error("the bias is not a vector of the last axis");
    alg.require(in[1][0] == in[0].back());
    return Shapes<A>{in[0]};
  }
  template <Algebra A>
  static typename A::Scalar sum(A& alg, Tensors<A> in, Position<A> i) {
    return alg.read(in[0], i) + alg.read(in[1], i.last(1));
  }
  static std::vector<Sample> samples() { return {{{{2, 3}, {3}}, {}}, {{{2, 1, 4}, {4}}, {}}}; }
};

}  // namespace regraft::ops

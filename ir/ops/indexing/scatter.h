#pragma once
// What the two scatters share: a copy of x with some elements replaced, or added to.
#include "ir/ops/define.h"

namespace regraft::ops {

/// Op::over_updates(alg, in, at, i, f) is the sum of f(update) over what goes to position i;
/// Op::adds(at) says if updates are added.
template <class Op>
struct Scattering {
  static constexpr Work work = Work::Movement;
  static constexpr int arity = 2;
  static constexpr TypeSupport types[] = {
      {DType::F32, 11, 11}, {DType::F16, 11, 11}, {DType::F64, 11, 11}, {DType::BF16, 13, 13}};
  static constexpr int64_t kMaxIndices = 4096;  ///< longer tables stay data of an opaque node
  OP_ELEMENT {
    auto x = alg.read(in[0], i);
    return x + Op::over_updates(alg, in, at, i, [&](const auto& update) {
             return Op::adds(at) ? update : minus(alg, update, x);
           });
  }
  // A copy, or the sum.
  OP_FLOAT_ELEMENT {
    std::vector<typename A::Scalar> found = {alg.read(in[0], i)};
    auto total = Op::over_updates(alg, in, at, i, [&](const auto& update) {
      found.push_back(update);
      return update;
    });
    return Op::adds(at) ? found.front() + total : found.back();
  }
};

}  // namespace regraft::ops

#pragma once
// Indices that are known when a model runs: values of a tensor of integers.
#include <cmath>

#include "ir/ops/define.h"

namespace regraft::ops {

/// 1 where a = b, else 0.
template <Algebra A, class S = typename A::Scalar>
S equal(A& alg, const S& a, const S& b) {
  auto at_most = [&](const S& x, const S& y) {
    return minus(alg, alg.constant(1), alg.apply(Fn::Step, minus(alg, x, y)));
  };
  return at_most(a, b) * at_most(b, a);
}

/// element_at in C, where a number may become a position.
template <class F>
CodeScalar looked_up(Code& code, const CodeScalar& index, int64_t size, F&& value) {
  if (size == 0) return code.constant(0);
  std::string place = "place_of(" + code.name_of(index) + ", " + std::to_string(size) + ")";
  return code.select(
      CodeBool{place + " >= 0", std::nullopt, index.on},
      [&] {
        return value(CodeIndex(CodeIndex::Variable{place, 0, size - 1, index.on}));
      },
      [&] { return code.constant(0); });
}

/// value(p) for the p in 0 .. size-1 that is `index`, or `index` + size; 0 when there is none.
template <Algebra A, class F, class I = typename A::Index>
typename A::Scalar element_at(A& alg, const typename A::Scalar& index, const I& size, F&& value) {
  if constexpr (std::is_same_v<A, Counting>) return value(I(0));  // machines look it up
  if constexpr (std::is_same_v<A, Code>) return looked_up(alg, index, fixed(size), value);
  return alg.sum(size, [&](const I& p) {
    auto here = equal(alg, index, alg.to_scalar(p)) + equal(alg, index, alg.to_scalar(p - size));
    return here * value(p);
  });
}

/// The same for a number: the position, or -1.
inline int64_t index_of(double index, int64_t size) {
  if (!(index >= static_cast<double>(-size) && index < static_cast<double>(size))) return -1;
  auto p = static_cast<int64_t>(index);
  if (static_cast<double>(p) != index) return -1;
  return p < 0 ? p + size : p;
}

/// The type of operand 0, whatever it is; the indices are integers. Variables of rules, which stand
/// for indices as well, are F32.
inline Result<DType> indexed_type(const OpDef& op, const Attrs<Poly>&,
                                  std::span<const DType> operands) {
  DType index = operands[1];
  if (index != DType::I32 && index != DType::I64 && index != DType::F32)
    return error(std::string(op.name) + ": operand 1 is of type " + to_string(index));
  if (operands[0] == DType::Undefined)
    return error(std::string(op.name) + ": operand 0 is of type " + to_string(operands[0]));
  return operands[0];
}

/// An Error for indices that no model has.
inline Status check_indices(const TensorType& indices, std::string_view type) {
  if (is_integer(indices.dtype)) return {};
  return error(std::string(type) + " by indices of type " + to_string(indices.dtype));
}

}  // namespace regraft::ops

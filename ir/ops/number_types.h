#pragma once
// Arithmetic that is the same on integers as on real numbers.
#include <span>

#include "ir/ops/op.h"

namespace regraft {

/// Operands of one type, which the outputs have too: real, or integers of 32 or 64 bits. That such
/// integers do not overflow is taken as given; smaller ones and unsigned ones do in earnest.
inline Result<DType> one_number_type(const OpDef& op, const Attrs<Poly>& at,
                                     std::span<const DType> operands) {
  bool integers = !operands.empty() && (operands[0] == DType::I32 || operands[0] == DType::I64);
  return integers ? one_type(op, at, operands) : one_real_type(op, at, operands);
}

namespace ops {

/// Element types of arithmetic that integers have as well, and where they came with opset 12.
inline constexpr TypeSupport kNumbers[] = {{DType::F32, 1, 1}, {DType::F16, 1, 1},
                                           {DType::F64, 1, 1}, {DType::BF16, 13, kNever},
                                           {DType::I64, 7, 7}, {DType::I32, 7, 7}};
inline constexpr TypeSupport kOrderedNumbers[] = {{DType::F32, 8, 8},   {DType::F16, 8, 8},
                                                  {DType::F64, 8, 8},   {DType::BF16, 13, kNever},
                                                  {DType::I64, 12, 12}, {DType::I32, 12, 12}};

}  // namespace ops
}  // namespace regraft

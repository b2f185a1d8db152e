#pragma once
// What comparisons and operators on truth values share. Truth values are the numbers 1 and 0.
#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

/// The type that operands `first` and those after it have; in rules F32 stands for any.
inline Result<DType> shared_type(const OpDef& op, std::span<const DType> operands, size_t first) {
  DType shared = DType::F32;
  for (size_t k = first; k < operands.size(); ++k) {
    DType type = operands[k];
    bool number = is_real(type) || is_integer(type);
    if (!number || (shared != DType::F32 && type != DType::F32 && type != shared))
      return error(std::string(op.name) + ": operand " + std::to_string(k) + " is of type " +
                   to_string(type));
    if (type != DType::F32) shared = type;
  }
  return shared;
}
/// Numbers of one type are compared.
inline Result<DType> compared(const OpDef& op, const Attrs<Poly>&,
                              std::span<const DType> operands) {
  RETURN_IF_ERROR(shared_type(op, operands, 0));
  return DType::Bool;
}
/// Real numbers are told apart.
inline Result<DType> told_apart(const OpDef& op, const Attrs<Poly>& at,
                                std::span<const DType> operands) {
  RETURN_IF_ERROR(one_real_type(op, at, operands));
  return DType::Bool;
}
/// Truth values are joined.
inline Result<DType> joined_truths(const OpDef& op, const Attrs<Poly>&,
                                   std::span<const DType> operands) {
  ASSIGN_OR_RETURN(DType type, shared_type(op, operands, 0));
  if (type != DType::Bool && type != DType::F32)
    return error(std::string(op.name) + " of type " + to_string(type));
  return DType::Bool;
}
/// In a model no type stands for another.
inline Status check_types(const OpDef& op, const std::vector<TensorType>& operands, size_t first) {
  for (size_t k = first; k < operands.size(); ++k)
    if (operands[k].dtype != operands[first].dtype)
      return error(std::string(op.name) + ": operands of types " +
                   to_string(operands[first].dtype) + " and " + to_string(operands[k].dtype));
  return {};
}
/// Are inputs `first` to `last` of a node truth values?
inline bool are_truths(const OnnxNode& n, size_t first, size_t last) {
  for (size_t k = first; k <= last; ++k)
    if (k >= n.inputs.size() || n.inputs[k].type.dtype != DType::Bool) return false;
  return true;
}

/// 1 where x > 0, else 0.
template <Algebra A, class S = typename A::Scalar>
S positive(A& alg, const S& x) {
  return alg.apply(Fn::Step, x);
}
template <Algebra A, class S = typename A::Scalar>
S negated(A& alg, const S& truth) {
  return minus(alg, alg.constant(1), truth);
}
/// 1 where a = b, else 0.
template <Algebra A, class S = typename A::Scalar>
S same_number(A& alg, const S& a, const S& b) {
  return negated(alg, positive(alg, minus(alg, a, b))) *
         negated(alg, positive(alg, minus(alg, b, a)));
}

/// A comparison of a and b; Op::compare says which, also of what is no number.
template <class Op>
struct Comparison : Broadcasting {
  static constexpr auto typed = &compared;
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    RETURN_IF_ERROR(check_types(define<Op>(), in, 0));
    return export_by_name(define<Op>(), at, in, opset);
  }
  static double at_position(Reals& alg, Tensors<Reals> in, const Attrs<int64_t>&, Position<Reals> i,
                            int) {
    double a = read_broadcast(alg, in[0], i), b = read_broadcast(alg, in[1], i);
    return Op::compare(a, b) ? 1 : 0;
  }
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
                    std::span<double> out) {
    Reals alg;
    fill_with<&Comparison::at_position, Reals>(alg, in, at, shape, 0, 0, out);
  }
};

/// An operator on truth values.
template <class Op>
struct Logic : Broadcasting {
  static constexpr auto typed = &joined_truths;
  static constexpr unsigned truths = 3;
  static constexpr TypeSupport types[] = {{DType::Bool, 7, 7}};
  static constexpr bool commutative = true;
  static constexpr bool associative = true;
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    return are_truths(n, 0, 1) ? import_by_name(define<Op>(), n) : std::nullopt;
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    RETURN_IF_ERROR(check_types(define<Op>(), in, 0));
    return export_by_name(define<Op>(), at, in, opset);
  }
};

}  // namespace regraft::ops

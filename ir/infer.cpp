// Types of calls: the shape rules of operators over symbolic sizes, and what a bad call is told.
#include "ir/graph.h"

namespace regraft {
namespace {

Status check_operands(const OpDef& op, const std::vector<TensorType>& operands) {
  std::string name(op.name);
  auto count = static_cast<int64_t>(operands.size());
  if (count < op.min_arity || count > op.max_arity)
    return error(name + ": takes " + std::to_string(op.min_arity) + " to " +
                 std::to_string(op.max_arity) + " operands, has " + std::to_string(count));
  for (size_t k = 0; k < operands.size(); ++k) {
    const TensorType& t = operands[k];
    std::string operand = name + ": operand " + std::to_string(k);
    if (!is_real(t.dtype)) return error(operand + " is of type " + to_string(t.dtype));
    if (!t.shape) return error(operand + " has no known shape");
    if (t.shape->size() > kMaxRank)
      return error(operand + " has rank " + std::to_string(t.shape->size()) + "; at most " +
                   std::to_string(kMaxRank) + " is supported");
    if (t.dtype != operands[0].dtype)
      return error(operand + " is of type " + to_string(t.dtype) + ", operand 0 of type " +
                   to_string(operands[0].dtype));
  }
  return {};
}

Status check_attrs(const OpDef& op, int rank, const Attrs<Poly>& attrs) {
  std::string name(op.name);
  if (attrs.ints.size() != op.ints.size() || attrs.reals.size() != op.reals.size())
    return error(name + ": has the attributes of another operator");
  for (size_t k = 0; k < op.ints.size(); ++k) {
    const IntAttr& a = op.ints[k];
    auto length = attr_length(a, rank);
    if (length && *length != attrs.ints[k].size())
      return error(name + ": " + std::string(a.name) + " has " +
                   std::to_string(attrs.ints[k].size()) + " numbers, needs " +
                   std::to_string(*length));
    for (const Poly& p : attrs.ints[k])
      if (a.structural && !p.is_constant())
        return error(name + ": " + std::string(a.name) + " must be a number, is " + to_string(p));
  }
  return {};
}

Result<Shapes<Symbolic>> infer_shapes(SymbolPool& pool, const OpDef& op,
                                      const std::vector<TensorType>& operands,
                                      const Attrs<Poly>& attrs,
                                      const std::function<void(const Formula&)>& on_require) {
  Shapes<Symbolic> shapes;
  shapes.reserve(operands.size());
  for (const TensorType& t : operands) shapes.push_back(*t.shape);
  Symbolic algebra(pool);
  bool fits = true;
  algebra.on_require = [&](const Formula& f) {
    if (on_require)
      on_require(f);
    else
      fits = fits && f.kind != Formula::False;
  };
  try {
    auto result = op.symbolic_semantics.infer(algebra, shapes, attrs);
    if (result && !fits) return error(std::string(op.name) + ": shapes do not fit");
    return result;
  } catch (const PolyOverflow&) {
    return error(std::string(op.name) + ": sizes are too large");
  }
}

}  // namespace

Result<std::vector<TensorType>> infer_call(SymbolPool& pool, const OpDef& op,
                                           const std::vector<TensorType>& operands,
                                           const Attrs<Poly>& attrs,
                                           const std::function<void(const Formula&)>& on_require) {
  RETURN_IF_ERROR(check_operands(op, operands));
  int rank = operands.empty() ? 0 : static_cast<int>(operands[0].shape->size());
  RETURN_IF_ERROR(check_attrs(op, rank, attrs));
  ASSIGN_OR_RETURN(Shapes<Symbolic> shapes, infer_shapes(pool, op, operands, attrs, on_require));
  DType dtype = operands.empty() ? DType::F32 : operands[0].dtype;
  std::vector<TensorType> types;
  types.reserve(shapes.size());
  for (Shape& s : shapes) {
    if (s.size() > kMaxRank)
      return error(std::string(op.name) + ": the result would have rank " +
                   std::to_string(s.size()) + "; at most " + std::to_string(kMaxRank) +
                   " is supported");
    types.push_back({dtype, std::move(s)});
  }
  return types;
}

}  // namespace regraft

// Types of calls: the shape rules of operators over symbolic sizes, and what a bad call is told.
#include <algorithm>

#include "ir/algebra/symbolic.h"
#include "ir/graph/graph.h"

namespace regraft {
namespace {

/// The element type of the results, for operands of known rank.
Result<DType> result_type(const OpDef& op, const std::vector<TensorType>& operands,
                          const Attrs<Poly>& attrs) {
  std::vector<DType> types;
  for (const TensorType& t : operands) {
    if (!t.shape)
      return error(std::string(op.name) + ": operand " + std::to_string(types.size()) +
                   " has no known shape");
    types.push_back(t.dtype);
  }
  return op.typed(op, attrs, types);
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

constexpr int64_t kMaxElements = int64_t{1} << 46;  ///< more is a mistake, not a tensor

/// Its known sizes allow a tensor.
bool exists(const Shape& shape) {
  int64_t n = 1;
  for (const Poly& d : shape) {
    if (!d.is_constant() || d.constant() == 0) continue;
    if (d.constant() > kMaxElements / n) return false;
    n *= std::max<int64_t>(1, d.constant());
  }
  return true;
}

}  // namespace

Result<std::vector<TensorType>> infer_call(SymbolPool& pool, const OpDef& op,
                                           const std::vector<TensorType>& operands,
                                           const Attrs<Poly>& attrs,
                                           const std::function<void(const Formula&)>& on_require) {
  ASSIGN_OR_RETURN(DType dtype, result_type(op, operands, attrs));
  ASSIGN_OR_RETURN(Shapes<Symbolic> shapes, infer_shapes(pool, op, operands, attrs, on_require));
  std::vector<TensorType> types;
  types.reserve(shapes.size());
  for (Shape& s : shapes) {
    if (s.size() > kMaxRank)
      return error(std::string(op.name) + ": the result would have rank " +
                   std::to_string(s.size()) + "; at most " + std::to_string(kMaxRank) +
                   " is supported");
    if (!exists(s)) return error(std::string(op.name) + ": sizes are too large");
    types.push_back({dtype, std::move(s)});
  }
  return types;
}

}  // namespace regraft

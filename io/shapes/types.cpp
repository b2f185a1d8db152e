#include "io/shapes/types.h"

#include <algorithm>

#include "io/shapes/operands.h"
#include "io/shapes/size_arithmetic.h"
#include "io/shapes/type_rules.h"
#include "ir/ops/number_types.h"

namespace regraft::io {
namespace {

using Types = std::vector<TensorType>;

/// Where sizes are to be equal, or one of them to be 1, the result has the larger one: a size that
/// says anything of them is not known.
void forget_sizes(Types& types, const std::vector<Formula>& equal, SymbolPool& pool) {
  auto is_asked = [&](const Poly::Term& t) {
    return std::ranges::any_of(t.monomial, [&](Var v) {
      return std::ranges::any_of(equal, [&](const Formula& f) { return mentions(f, v); });
    });
  };
  for (TensorType& t : types)
    for (Poly& d : *t.shape)
      if (std::ranges::any_of(d.terms(), is_asked))
        d = Poly::symbol(pool.fresh("d", SymbolKind::Size, 1));
}

/// Are the operands to have one type, by what the registry says?
bool wants_one_type(const OpDef& op) {
  return op.typed == &one_real_type || op.typed == &one_number_type || op.typed == &one_type;
}

/// The type of the operand that results have theirs from; undefined where operands that are to have
/// one type have several.
DType common_type(const OnnxNode& node, const OpDef& op, const std::vector<int>& operands) {
  auto type = [&](int k) { return node.inputs[static_cast<size_t>(k)].type.dtype; };
  const DType first = type(operands[static_cast<size_t>(op.type_operand)]);
  auto differs = [&](int k) { return type(k) != DType::Undefined && type(k) != first; };
  return wants_one_type(op) && std::ranges::any_of(operands, differs) ? DType::Undefined : first;
}

/// Shapes by the registry's rules for a node whose elements are not real numbers.
struct ByRegistry {
  Types types;
  bool broadcasts = false;  ///< which sizes are 1 is open
};
ByRegistry registry_types(const OnnxNode& node, SymbolPool& pool) {
  for (const OpDef* op : ops_for_onnx(node.type)) {
    if (!is_readable(node, *op)) continue;
    auto import = op->from_onnx(node);
    if (!import || import->operands.empty()) continue;
    std::vector<TensorType> operands;
    for (int k : import->operands) {
      if (k < 0 || static_cast<size_t>(k) >= node.inputs.size()) break;
      const OnnxInput& in = node.inputs[static_cast<size_t>(k)];
      if (!in.type.shape || is_empty(*in.type.shape) || in.type.shape->size() > kMaxRank) break;
      operands.push_back({DType::F32, in.type.shape});
    }
    if (operands.size() != import->operands.size()) continue;
    std::vector<Formula> equal;
    auto types = infer_call(pool, *op, operands, import->attrs, [&](const Formula& f) {
      if (asks_equality(f)) equal.push_back(f);
    });
    if (!types) continue;
    const bool broadcasts =
        !equal.empty() && (op->work == Work::Elementwise || op->work == Work::Product);
    if (broadcasts) forget_sizes(*types, equal, pool);
    const DType of_elements = common_type(node, *op, import->operands);
    for (TensorType& t : *types)
      if (t.dtype == DType::F32) t.dtype = of_elements;
    return {*std::move(types), broadcasts};
  }
  return {};
}

}  // namespace

TensorType possible(TensorType type) {
  if (type.shape && !is_plausible(*type.shape)) type.shape.reset();
  return type;
}

bool is_empty(const Shape& shape) {
  return std::any_of(shape.begin(), shape.end(), [](const Poly& d) { return d.is_zero(); });
}

bool is_readable(const OnnxNode& node, const OpDef& op) {
  auto arity = static_cast<size_t>(std::max(op.min_arity, 1));
  if (node.inputs.size() < arity) return false;
  const OnnxInput& first = node.inputs[0];
  return first.present && first.type.shape && first.type.shape->size() <= kMaxRank &&
         !is_empty(*first.type.shape);
}

std::optional<size_t> mixed_operand(const OnnxNode& node) try {
  for (const OpDef* op : ops_for_onnx(node.type)) {
    if (!wants_one_type(*op) || !is_readable(node, *op)) continue;
    auto import = op->from_onnx(node);
    if (!import || import->operands.empty() || import->operands[0] != 0) continue;
    DType first = node.inputs[0].type.dtype;
    for (int k : import->operands) {
      if (static_cast<size_t>(k) >= node.inputs.size()) continue;
      DType other = node.inputs[static_cast<size_t>(k)].type.dtype;
      if (first != DType::Undefined && other != DType::Undefined &&
          is_real(first) != is_real(other))
        return static_cast<size_t>(k);
    }
  }
  return std::nullopt;
} catch (const PolyOverflow&) {
  return std::nullopt;  // sizes beyond 64 bits
}

bool hands_on(const OnnxNode& node) {
  if (node.inputs.empty() || !node.inputs[0].present) return false;
  DType type = node.inputs[0].type.dtype;
  if (node.type == "Identity") return true;
  if (node.type == "Cast")
    return type != DType::Undefined && node.integer("to", 0) == static_cast<int64_t>(type);
  if (node.type != "Dropout") return false;
  if (node.inputs.size() < 3 || !node.inputs[2].present) return true;
  auto training = node.constant_ints(2);
  return training && training->size() == 1 && training->front() == 0;
}

std::vector<TensorType> output_types(const OnnxNode& node, SymbolPool& pool) try {
  auto [known, broadcasts] = registry_types(node, pool);
  Types tabled;
  TypeRule rule = type_rule(node.type);
  if (rule && !node.inputs.empty()) tabled = rule(node, pool);
  tabled.resize(static_cast<size_t>(node.outputs));
  known.resize(tabled.size());
  for (size_t k = 0; k < known.size(); ++k) {
    if (tabled[k].dtype != DType::Undefined) known[k].dtype = tabled[k].dtype;
    if (broadcasts && tabled[k].shape) known[k].shape = tabled[k].shape;
    known[k] = merge(known[k], tabled[k]);
  }
  return known;
} catch (const PolyOverflow&) {
  return Types(static_cast<size_t>(node.outputs));
}

TensorType merge(const TensorType& known, const TensorType& stated) {
  TensorType out = known;
  if (out.dtype == DType::Undefined) out.dtype = stated.dtype;
  if (!out.shape) out.shape = stated.shape;
  return out;
}

}  // namespace regraft::io

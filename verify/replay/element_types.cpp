#include "verify/replay/element_types.h"

#include <algorithm>

namespace regraft::verify {
namespace {

enum class Sort : uint8_t { Open, Number, Truth };

bool takes_truth(const OpDef& op) {
  return std::ranges::any_of(op.types, [](const TypeSupport& t) { return t.type == DType::Bool; });
}

/// Operand k is of the type that `OpDef::types` is about.
bool is_data(const OpDef& op, size_t k) {
  if (op.wants_truth(k)) return false;
  return op.work == Work::Elementwise || static_cast<int>(k) == op.type_operand;
}

/// What is known of the values of one side, given what the left one says of the variables.
class Side {
 public:
  Side(const Graph& g, const std::vector<Sort>& variables) : g_(g) {
    sorts_.resize(static_cast<size_t>(g.id_bound()), Sort::Open);
    for (size_t v = 0; v < variables.size(); ++v) at(g.inputs()[v]) = variables[v];
    for (int32_t id = 0; id < g.id_bound(); ++id)
      if (g.contains(id) && g.node(id).kind == NodeKind::Call)
        sorts_[static_cast<size_t>(id)] = result(g.node(id));
  }
  Sort of(Value v) const { return sorts_[static_cast<size_t>(v.node)]; }

 private:
  Sort& at(Value v) { return sorts_[static_cast<size_t>(v.node)]; }
  Sort result(const Node& n) const {
    const DType type = n.types[0].dtype;  // F32 stands for any
    if (type != DType::F32) return type == DType::Bool ? Sort::Truth : Sort::Number;
    if (n.op->types.empty()) return Sort::Open;  // constants have the type that is wanted
    if (n.op->states_type || !takes_truth(*n.op)) return Sort::Number;
    Sort sort = Sort::Open;
    for (size_t k = 0; k < n.inputs.size(); ++k)
      if (is_data(*n.op, k) && sort == Sort::Open) sort = of(n.inputs[k]);
    return sort;
  }

  const Graph& g_;
  std::vector<Sort> sorts_;  // by id
};

/// What the left side's operators ask of the variables.
std::vector<Sort> variables_of(const Graph& lhs) {
  std::vector<Sort> sorts;
  for (Value in : lhs.inputs()) {
    Sort sort = lhs.type(in).dtype == DType::Bool ? Sort::Truth : Sort::Open;
    for (int32_t id = 0; id < lhs.id_bound() && sort == Sort::Open; ++id) {
      if (!lhs.contains(id) || lhs.node(id).kind != NodeKind::Call) continue;
      const Node& n = lhs.node(id);
      const bool numbers = !n.op->types.empty() && !takes_truth(*n.op);
      for (size_t k = 0; k < n.inputs.size(); ++k)
        if (n.inputs[k] == in && numbers && is_data(*n.op, k)) sort = Sort::Number;
    }
    sorts.push_back(sort);
  }
  return sorts;
}

}  // namespace

std::string wrong_types(const RuleInstance& instance) {
  const Graph &lhs = instance.lhs, &rhs = instance.rhs;
  const std::vector<Sort> variables = variables_of(lhs);
  const Side left(lhs, variables), right(rhs, variables);
  for (int32_t id = 0; id < rhs.id_bound(); ++id) {
    if (!rhs.contains(id) || rhs.node(id).kind != NodeKind::Call) continue;
    const Node& n = rhs.node(id);
    for (size_t k = 0; k < n.inputs.size(); ++k)
      if (n.op->wants_truth(k) && right.of(n.inputs[k]) == Sort::Number)
        return "the right side takes numbers for truth values";
  }
  for (size_t k = 0; k < lhs.outputs().size(); ++k) {
    const Sort a = left.of(lhs.outputs()[k]), b = right.of(rhs.outputs()[k]);
    if (a != Sort::Open && b != Sort::Open && a != b)
      return "one side is of truth values, the other of numbers";
  }
  return {};
}

}  // namespace regraft::verify

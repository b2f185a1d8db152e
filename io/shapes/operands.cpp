#include "io/shapes/operands.h"

#include <algorithm>

#include "io/shapes/types.h"

namespace regraft::io {

bool asks_sizes(const OnnxNode& node) {
  bool computed = std::ranges::any_of(node.inputs, [](auto& in) { return in.sizes != nullptr; });
  bool shape = node.type == "Shape" || node.type == "Size";
  return computed || shape ||
         (!node.inputs.empty() && node.inputs[0].present && is_integer(node.inputs[0].type.dtype));
}

bool reads_few_numbers(const OnnxNode& node) {
  constexpr int64_t kFew = 64;
  return !node.inputs.empty() && std::ranges::all_of(node.inputs, [](auto& in) {
    return in.constant && in.constant->count() <= kFew;
  });
}

bool is_computable(const SizeTensor& t) {
  bool whole = std::ranges::all_of(t.elements, [](auto& e) { return e.divisor == 1; });
  return whole && t.dtype != DType::Bool &&
         std::ranges::all_of(t.elements, [](auto& e) { return computable(e.value); });
}

std::optional<size_t> only_part(const OnnxNode& node) {
  if (node.type != "Concat" || !node.has("axis")) return std::nullopt;
  int64_t axis = node.integer("axis", 0);
  std::optional<size_t> part;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    const auto& shape = node.inputs[k].type.shape;
    if (!shape) return std::nullopt;
    auto rank = static_cast<int64_t>(shape->size());
    int64_t at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank) return std::nullopt;
    if ((*shape)[static_cast<size_t>(at)].is_zero()) continue;
    if (part) return std::nullopt;
    part = k;
  }
  return part;
}

std::optional<size_t> unchanged_operand(const OnnxNode& node) {
  bool sum = node.type == "Add" || node.type == "Sub";
  bool product = node.type == "Mul" || node.type == "Div";
  if (!(sum || product) || node.inputs.size() != 2) return std::nullopt;
  bool either = node.type == "Add" || node.type == "Mul";
  for (size_t k : {size_t{0}, size_t{1}}) {
    const OnnxInput &kept = node.inputs[k], &other = node.inputs[1 - k];
    if ((k == 1 && !either) || !kept.present || !other.constant) continue;
    DType type = kept.type.dtype;
    bool integers = (type == DType::I64 || type == DType::I32) && other.type.dtype == type;
    bool one = other.constant->count() == 1 && kept.type.shape &&
               other.constant->dims().size() <= kept.type.shape->size();
    if (!integers || !one) continue;
    auto number = other.constant->integers();
    if (number && number->size() == 1 && number->front() == (sum ? 0 : 1)) return k;
  }
  return std::nullopt;
}

static bool is_leaf(const OnnxInput& in) { return in.sizes && is_computable(*in.sizes); }

bool fits(const OnnxNode& node, const std::vector<int>& operands) {
  std::vector<char> is_operand(node.inputs.size(), 0);
  for (int k : operands) {
    if (k < 0 || static_cast<size_t>(k) >= node.inputs.size()) return false;
    const OnnxInput& in = node.inputs[static_cast<size_t>(k)];
    if (!in.present || !in.type.shape || is_empty(*in.type.shape)) return false;
    if (in.type.shape->size() > kMaxRank) return false;
    is_operand[static_cast<size_t>(k)] = 1;
  }
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    const OnnxInput& in = node.inputs[k];
    if (in.present && !is_operand[k] && !in.constant && !is_leaf(in)) return false;
  }
  return !operands.empty();
}

bool asks_equality(const Formula& f) {
  if (f.kind == Formula::Zero) return true;
  return std::any_of(f.parts.begin(), f.parts.end(), asks_equality);
}

}  // namespace regraft::io

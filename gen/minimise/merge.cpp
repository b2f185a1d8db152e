#include "gen/minimise/merge.h"

#include <algorithm>

namespace regraft::gen {
namespace {

/// The variables that a value of a pattern depends on.
std::set<int> variables_below(const Pattern& p, PatternRef r) {
  if (is_variable(r)) return {variable_of(r)};
  std::set<int> all;
  for (PatternRef o : p.nodes[static_cast<size_t>(r.node)].inputs) all.merge(variables_below(p, o));
  return all;
}

/// a is b or needs b.
bool depends(const Pattern& p, PatternRef a, PatternRef b) {
  if (is_variable(a)) return false;
  if (a.node == b.node) return true;
  const auto& inputs = p.nodes[static_cast<size_t>(a.node)].inputs;
  return std::any_of(inputs.begin(), inputs.end(), [&](PatternRef r) { return depends(p, r, b); });
}

/// Two values of which neither needs the other, and which share a variable.
bool may_be_side_by_side(const Pattern& p, PatternRef a, PatternRef b) {
  if (depends(p, a, b) || depends(p, b, a)) return false;
  std::set<int> of_a = variables_below(p, a), of_b = variables_below(p, b);
  return std::any_of(of_a.begin(), of_a.end(), [&](int v) { return of_b.count(v) > 0; });
}

bool is_merge(const Pattern& lhs) {
  if (lhs.outputs.size() != 1 || is_variable(lhs.outputs[0])) return false;
  const PatternNode& root = lhs.nodes[static_cast<size_t>(lhs.outputs[0].node)];
  if (root.op->parts_by.empty() || root.inputs.size() < 2) return false;
  if (std::any_of(root.inputs.begin(), root.inputs.end(), is_variable)) return false;
  for (size_t k = 0; k < root.inputs.size(); ++k)
    for (size_t j = 0; j < k; ++j)
      if (!may_be_side_by_side(lhs, root.inputs[j], root.inputs[k])) return false;
  return true;
}

/// A size over the instance's symbols as one over the rule's; nullopt when it is no sum of sizes.
std::optional<Poly> in_rule(const Rule& rule, const Signature& signature, const Poly& p) {
  Poly r(p.constant());
  for (const auto& [monomial, coefficient] : p.terms()) {
    Poly x(coefficient);
    for (Var v : monomial) {
      auto size = v->numerator ? std::nullopt : size_name(*v);
      if (!size) return std::nullopt;
      auto index = std::find(rule.variables.begin(), rule.variables.end(), size->variable);
      if (index == rule.variables.end()) return std::nullopt;
      auto rank =
          static_cast<int>(signature[static_cast<size_t>(index - rule.variables.begin())].size());
      int axis = rank <= 2 ? size->axis - rank : size->axis;
      x = x * Poly::symbol(rule.pool->named(size->variable + "." + std::to_string(axis)));
    }
    r = r + x;
  }
  return r;
}

/// Extents of the concatenated values along the axis.
std::optional<std::vector<Poly>> parts(const Rule& rule, const Signature& signature, int64_t axis) {
  auto instance = instantiate(rule, signature);
  if (!instance) return std::nullopt;
  const Graph& graph = instance->lhs;
  const Node& root = graph.node(graph.outputs()[0].node);
  std::vector<Poly> sizes;
  for (Value v : root.inputs) {
    const Shape& shape = graph.shape(v);
    auto rank = static_cast<int64_t>(shape.size());
    auto size = in_rule(rule, signature, shape[static_cast<size_t>(axis < 0 ? axis + rank : axis)]);
    if (!size) return std::nullopt;
    sizes.push_back(*std::move(size));
  }
  return sizes;
}

}  // namespace

std::optional<Rule> merge_of(const Rule& rule, const Signature& signature, uint64_t seed) {
  if (!is_merge(rule.lhs) || is_variable(rule.rhs.outputs[0])) return std::nullopt;
  Rule r = rule;
  auto root = static_cast<size_t>(r.lhs.outputs[0].node);
  CHECK(root + 1 == r.lhs.nodes.size());
  PatternNode concat = r.lhs.nodes[root];
  auto sizes = parts(rule, signature, concat.attrs.ints[0][0].constant());
  if (!sizes) return std::nullopt;
  r.lhs.nodes.pop_back();
  r.lhs.outputs = concat.inputs;
  PatternNode split;
  split.op = find_op(concat.op->parts_by);
  split.attrs.ints = {concat.attrs.ints[0], *std::move(sizes)};
  split.list_vars.resize(2);
  split.inputs = r.rhs.outputs;
  auto node = static_cast<int32_t>(r.rhs.nodes.size());
  r.rhs.nodes.push_back(std::move(split));
  r.rhs.outputs.clear();
  for (size_t k = 0; k < concat.inputs.size(); ++k)
    r.rhs.outputs.push_back({node, static_cast<int32_t>(k)});
  if (!validate(r) || check(r, signature, seed, kManyShapes) != Evidence::Holds)
    return std::nullopt;
  return r;
}

}  // namespace regraft::gen

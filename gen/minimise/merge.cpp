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

bool is_merge(const Pattern& lhs) {
  if (lhs.outputs.size() != 1 || is_variable(lhs.outputs[0])) return false;
  const PatternNode& root = lhs.nodes[static_cast<size_t>(lhs.outputs[0].node)];
  if (root.op->parts_by.empty() || root.inputs.size() != 2) return false;
  if (is_variable(root.inputs[0]) || is_variable(root.inputs[1])) return false;
  if (depends(lhs, root.inputs[0], root.inputs[1]) || depends(lhs, root.inputs[1], root.inputs[0]))
    return false;
  std::set<int> a = variables_below(lhs, root.inputs[0]), b = variables_below(lhs, root.inputs[1]);
  return std::any_of(a.begin(), a.end(), [&](int v) { return b.count(v) > 0; });
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

/// Extents of the two concatenated values along the axis.
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
  r.rhs.outputs = {{node, 0}, {node, 1}};
  if (!validate(r) || check(r, signature, seed, kManyShapes) != Evidence::Holds)
    return std::nullopt;
  return r;
}

}  // namespace regraft::gen

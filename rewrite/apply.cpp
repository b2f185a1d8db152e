#include "rewrite/apply.h"

#include <algorithm>

#include "base/check.h"
#include "base/rng.h"
#include "ir/eval.h"

namespace regraft::rewrite {

namespace {

void move_name(Graph& g, const Node& from, int32_t from_output, Value to) {
  auto k = static_cast<size_t>(from_output), j = static_cast<size_t>(to.output);
  if (k >= from.names.size() || from.names[k].empty()) return;
  Node renamed = g.node(to.node);
  if (j >= renamed.names.size()) renamed.names.resize(j + 1);
  if (!renamed.names[j].empty()) return;
  renamed.names[j] = from.names[k];
  g.replace_node(to.node, std::move(renamed));
}

/// Ids of the planned calls once they are nodes.
std::vector<int32_t> add_calls(Graph& g, const Plan& plan) {
  std::vector<int32_t> ids;
  for (size_t k = 0; k < plan.calls.size(); ++k)
    ids.push_back(g.id_bound() + static_cast<int32_t>(k));
  for (const PlannedCall& call : plan.calls) {
    Node node;
    node.op = call.op;
    node.attrs = call.attrs;
    node.types = call.types;
    for (PlanRef r : call.inputs) {
      PlanRef v = resolve(plan, r);
      if (is_planned(v)) v.node = ids[planned_index(v)];
      node.inputs.push_back(v);
    }
    g.add_node(std::move(node));
  }
  return ids;
}

/// Sizes for the debug check: equal sizes stay equal, 1 stays 1, attributes stay what they are.
std::optional<Valuation> small_sizes(const Found& found, uint64_t seed) {
  std::map<Var, char, SymbolLess> is_dimension;
  for (const auto& sizes : found.instance->sizes)
    for (const auto& v : sizes)
      if (v) is_dimension[*v] = 1;
  Rng rng(seed);
  std::map<int64_t, int64_t> shrunk{{1, 1}};
  Valuation values;
  for (const auto& [v, p] : found.binding.sizes) {
    int64_t value = p.is_constant() ? p.constant() : 2 + static_cast<int64_t>(hash(p) % 2);
    if (is_dimension.count(v) && value > 1) {
      auto [it, fresh] = shrunk.emplace(value, rng.between(2, 6));
      value = std::min(value, it->second);
    } else if (!p.is_constant()) {
      value = std::max(value, v->min);
    }
    values[v] = value;
  }
  if (!evaluate(found.instance->requires_lhs, values)) return std::nullopt;
  return values;
}

std::optional<std::vector<Array<Residue>>> fingerprint(Field& field, const Graph& g,
                                                       const Valuation& sizes) {
  auto input = [](int k, const std::vector<int64_t>& shape) {
    Array<Residue> a{shape, {}};
    int64_t n = 1;
    for (int64_t d : shape) n *= d;
    Rng rng(static_cast<uint64_t>(k) + 1);
    for (int64_t i = 0; i < n; ++i) a.data.push_back(random_residue(rng));
    return a;
  };
  return evaluate_graph<Field>(field, g, sizes, input, 1 << 14);
}

[[maybe_unused]] void check_applied(const GraphView& view, const Match& match,
                                    const Graph& result) {
  auto agree = sides_agree(match.found);
  CHECK(!agree.has_value() || *agree);
  CHECK(validate(result).ok());
  CHECK(result.outputs().size() == view.graph.outputs().size());
  for (size_t k = 0; k < result.outputs().size(); ++k)
    CHECK(same(result.type(result.outputs()[k]), view.graph.type(view.graph.outputs()[k])));
}

}  // namespace

std::optional<bool> sides_agree(const Found& found) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    auto sizes = small_sizes(found, seed);
    if (!sizes) continue;
    Field field(7);
    auto lhs = fingerprint(field, found.instance->lhs, *sizes);
    if (!lhs) continue;
    auto rhs = fingerprint(field, found.instance->rhs, *sizes);
    Agreement a = rhs ? agreement(*lhs, *rhs) : Agreement::Different;
    if (a != Agreement::Undefined) return a == Agreement::Equal;
  }
  return std::nullopt;
}

Graph apply(const GraphView& view, const Match& match) {
  const Plan& plan = match.plan;
  Graph g = view.graph;
  std::vector<int32_t> ids = add_calls(g, plan);
  auto redirected = [&](Value v) {
    PlanRef to = resolve(plan, v);
    return is_planned(to) ? Value{ids[planned_index(to)], to.output} : Value(to);
  };
  for (int32_t id : plan.removed) g.remove_node(id);
  std::vector<Value> outputs = g.outputs();
  for (const auto& [from, to] : plan.replaced) {
    for (auto [user, operand] : view.uses[static_cast<size_t>(from.node)]) {
      if (!g.contains(user) || g.node(user).inputs[static_cast<size_t>(operand)] != from) continue;
      Node node = g.node(user);
      node.inputs[static_cast<size_t>(operand)] = redirected(from);
      g.replace_node(user, std::move(node));
    }
    std::replace(outputs.begin(), outputs.end(), from, redirected(from));
    if (is_planned(to) && !g.contains(from.node))
      move_name(g, view.node(from.node), from.output, redirected(from));
  }
  g.set_outputs(std::move(outputs));
#ifndef NDEBUG
  check_applied(view, match, g);
#endif
  return g;
}

}  // namespace regraft::rewrite

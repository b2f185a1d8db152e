#include "io/shapes/contradiction.h"

#include <algorithm>

namespace regraft::io {
namespace {

bool is_known(const Poly& p, const Valuation& sizes) {
  return std::ranges::all_of(p.terms(), [&](const Poly::Term& t) {
    return std::ranges::all_of(t.monomial, [&](Var v) { return sizes.contains(v); });
  });
}

/// An equation does not hold at these sizes; inequalities, which runtimes take less strictly, count
/// as holding.
bool is_contradicted(const Formula& f, const Valuation& sizes) {
  auto is = [&](const Formula& part) { return is_contradicted(part, sizes); };
  switch (f.kind) {
    case Formula::Zero:
      return is_known(f.poly, sizes) && evaluate(f.poly, sizes) != 0;
    case Formula::And:
      return std::ranges::any_of(f.parts, is);
    case Formula::Or:
      return std::ranges::all_of(f.parts, is);
    case Formula::True:
    case Formula::False:
    case Formula::NonNegative:
      return false;
  }
  return false;
}

/// Each size becomes a symbol, so that what is asked of it is an equation of its own; those that
/// are open have no value.
bool is_contradicted(const OpDef& op, const OnnxNode& node) {
  auto import = op.from_onnx(node);
  if (!import || !numeric(import->attrs)) return false;
  SymbolPool pool;
  Valuation sizes;
  size_t count = 0;
  std::vector<TensorType> types;
  for (int k : import->operands) {
    TensorType t = node.inputs[static_cast<size_t>(k)].type;
    if (!t.shape) return false;
    for (Poly& d : *t.shape) {
      if (d.is_constant() && d.constant() < 1) return false;
      Var symbol = pool.named(std::to_string(count++));
      if (d.is_constant()) sizes[symbol] = d.constant();
      d = Poly::symbol(symbol);
    }
    types.push_back(std::move(t));
  }
  bool found = false;
  auto on_require = [&](const Formula& f) { found = found || is_contradicted(f, sizes); };
  return infer_call(pool, op, types, import->attrs, on_require) && found;
}

}  // namespace

std::optional<std::string> contradicted_node(const Model& model, const Graph& graph) {
  for (int32_t id = 0; id < graph.id_bound(); ++id) {
    if (!graph.contains(id)) continue;
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::Opaque || n.origin < 0 || !model.is_node(n.origin)) continue;
    const auto index = static_cast<size_t>(n.origin);
    const onnx::NodeProto& proto = *model.nodes[index];
    if (!is_default_domain(proto.domain())) continue;
    const OnnxNode node = neutral_node(model, index, graph);
    auto contradicts = [&](const OpDef* op) {
      try {
        return is_contradicted(*op, node);
      } catch (const PolyOverflow&) {
        return false;
      }
    };
    if (std::ranges::any_of(ops_for_onnx(node.type), contradicts)) return describe(proto, index);
  }
  return std::nullopt;
}

}  // namespace regraft::io

#include "io/coverage/coverage.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/check.h"
#include "io/proto.h"

namespace regraft::io {
namespace {

int count_nodes(const onnx::NodeProto& node) {
  int count = 0;
  for (const auto* body : bodies(node)) {
    count += body->node_size();
    for (const auto& inner : body->node()) count += count_nodes(inner);
  }
  return count;
}

std::string name_of(const onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  for (const auto& output : node.output())
    if (!output.empty()) return output;
  return "";
}

/// By node: do the file's outputs need it?
std::vector<char> needed_in_file(const Model& model) {
  std::unordered_map<std::string_view, size_t> maker;
  for (size_t k = 0; k < model.nodes.size(); ++k)
    for (const auto& name : model.nodes[k]->output()) maker.emplace(name, k);
  std::vector<char> needed(model.nodes.size(), 0);
  std::vector<size_t> open;
  auto need = [&](const std::string& name) {
    auto at = maker.find(name);
    if (name.empty() || at == maker.end() || needed[at->second]) return;
    needed[at->second] = 1;
    open.push_back(at->second);
  };
  for (const auto& v : model.shell.graph().output()) need(v.name());
  while (!open.empty()) {
    size_t k = open.back();
    open.pop_back();
    for (const auto& name : model.nodes[k]->input()) need(name);
    for (const auto& name : model.imprints[k].captured) need(name);
  }
  return needed;
}

/// What keeps a tensor from being an operand.
Reason reason_of(const TensorType& t) {
  if (t.dtype == DType::Undefined) return Reason::NoType;
  if (!t.shape) return Reason::NoShape;
  if (std::any_of(t.shape->begin(), t.shape->end(), [](const Poly& d) { return d.is_zero(); }))
    return Reason::Empty;
  return Reason::None;
}

/// Why the inputs are no operands of this operator, in its form.
Reason reason_of(const OnnxNode& node, const OpDef& op, const OnnxImport& form) {
  std::vector<char> operand(node.inputs.size(), 0);
  std::vector<DType> types;
  Reason worst = Reason::None;
  for (int k : form.operands) {
    if (k < 0 || static_cast<size_t>(k) >= node.inputs.size()) return Reason::Form;
    operand[static_cast<size_t>(k)] = 1;
    const TensorType& type = node.inputs[static_cast<size_t>(k)].type;
    types.push_back(type.dtype);
    if (Reason r = reason_of(type); r != Reason::None && (worst == Reason::None || r < worst))
      worst = r;
  }
  if (worst == Reason::NoType) return worst;
  if (!op.typed(op, form.attrs, types)) return Reason::NotReal;
  if (worst != Reason::None) return worst;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    const OnnxInput& in = node.inputs[k];
    if (in.present && !operand[k] && !in.constant && !in.sizes) return Reason::Form;
  }
  return Reason::OpenSizes;
}

/// Why the node is no call of this operator.
Reason reason_of(const OnnxNode& node, const OpDef& op) try {
  auto arity = static_cast<size_t>(std::max(op.min_arity, 1));
  if (node.inputs.size() < arity || !node.inputs[0].present) return Reason::Form;
  const TensorType& first = node.inputs[0].type;
  if (!first.shape) return first.dtype == DType::Undefined ? Reason::NoType : Reason::NoShape;
  if (reason_of(first) == Reason::Empty) return Reason::Empty;
  if (first.shape->size() > kMaxRank) return Reason::Form;
  auto form = op.from_onnx(node);
  return form ? reason_of(node, op, *form) : Reason::Form;
} catch (const PolyOverflow&) {
  return Reason::Form;
}

/// All its outputs have known types, and none is real.
bool makes_no_reals(const Node& node) {
  return std::all_of(node.types.begin(), node.types.end(), [](const TensorType& t) {
    return t.dtype != DType::Undefined && !is_real(t.dtype);
  });
}

Reason reason_of(const Imported& m, size_t index, bool local) {
  const auto& proto = *m.model->nodes[index];
  if (local) return Reason::UnknownType;
  auto ops = ops_for_onnx(type_name(proto));
  if (ops.empty())
    return makes_no_reals(m.graph.node(m.model->ids[index])) ? Reason::NotReal
                                                             : Reason::UnknownType;
  if (!bodies(proto).empty()) return Reason::Form;
  OnnxNode node = neutral_node(*m.model, index, m.graph);
  Reason reason = Reason::UnknownType;
  for (const OpDef* op : ops) reason = std::max(reason, reason_of(node, *op));
  return reason;
}

}  // namespace

std::string_view to_string(Reason r) {
  switch (r) {
    case Reason::None:
      return "";
    case Reason::UnknownType:
      return "unknown operator";
    case Reason::NotReal:
      return "not real-valued";
    case Reason::NoType:
      return "element type unknown";
    case Reason::NoShape:
      return "shape unknown";
    case Reason::Empty:
      return "empty";
    case Reason::Form:
      return "form";
    case Reason::OpenSizes:
      return "sizes left open";
  }
  return "";
}

std::vector<NodeCoverage> coverage(const Imported& m) {
  const Model& model = *m.model;
  auto order = topological_order(m.graph);
  CHECK(order.has_value());
  std::vector<char> in_graph(static_cast<size_t>(m.graph.id_bound()), 0);
  for (int32_t id : *order) in_graph[static_cast<size_t>(id)] = 1;
  std::unordered_set<std::string> functions;
  for (const auto& f : model.shell.functions()) functions.insert(type_name(f));
  std::vector<char> needed = needed_in_file(model);
  std::vector<NodeCoverage> all(model.nodes.size());
  for (size_t k = 0; k < all.size(); ++k) {
    const auto& proto = *model.nodes[k];
    int32_t id = model.ids[k];
    bool stays = id >= 0 && in_graph[static_cast<size_t>(id)];
    bool opaque = stays && m.graph.node(id).kind == NodeKind::Opaque;
    bool acts = opaque && !m.graph.node(id).pure;
    all[k] = {name_of(proto), stays ? id : -1, type_name(proto),  needed[k] || acts,
              !opaque,        Reason::None,    count_nodes(proto)};
    if (opaque) all[k].reason = reason_of(m, k, functions.count(type_name(proto)) > 0);
  }
  return all;
}

}  // namespace regraft::io

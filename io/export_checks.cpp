// What is asked of nodes and graphs that are about to be written.
#include <algorithm>
#include <unordered_set>

#include "base/check.h"
#include "io/proto.h"

namespace regraft::io {

bool has_shorter_form(const Model& model, const Graph& imported, const Node& node) {
  if (node.kind != NodeKind::Call) return false;
  const auto& inputs = model.imprints[static_cast<size_t>(node.origin)].inputs;
  bool computed = std::ranges::any_of(
      inputs, [&](Value v) { return v.node >= 0 && imported.node(v.node).sizes != nullptr; });
  if (!computed) return false;
  std::vector<TensorType> operands;
  for (int k : model.imprints[static_cast<size_t>(node.origin)].operands)
    operands.push_back(imported.type(inputs[static_cast<size_t>(k)]));
  auto form = node.op->to_onnx(node.attrs, operands, model.opset);
  return form && std::ranges::all_of(form->inputs, [](auto& in) { return in.sizes.empty(); });
}

void drop_stale(onnx::GraphProto& graph, const Model& model) {
  std::unordered_set<std::string_view> present;
  for (const auto& v : graph.input()) present.insert(v.name());
  for (const auto& t : graph.initializer()) present.insert(t.name());
  for (const auto& t : graph.sparse_initializer()) present.insert(t.values().name());
  for (const auto& node : graph.node()) present.insert(node.output().begin(), node.output().end());
  std::unordered_set<std::string_view> before;
  for (const auto& t : model.initialisers) before.insert(t->name());
  for (const auto& node : model.nodes) before.insert(node->output().begin(), node->output().end());
  auto gone = [&](const std::string& name) {
    return before.count(name) > 0 && present.count(name) == 0;
  };
  auto* infos = graph.mutable_value_info();
  auto stale = [&](const onnx::ValueInfoProto& v) { return gone(v.name()); };
  infos->erase(std::remove_if(infos->begin(), infos->end(), stale), infos->end());
  auto* notes = graph.mutable_quantization_annotation();
  auto stale_note = [&](const onnx::TensorAnnotation& a) { return gone(a.tensor_name()); };
  notes->erase(std::remove_if(notes->begin(), notes->end(), stale_note), notes->end());
}

void check_order(const onnx::GraphProto& written) {
  std::unordered_set<std::string_view> made;
  for (const auto& v : written.input()) made.insert(v.name());
  for (const auto& t : written.initializer()) made.insert(t.name());
  for (const auto& t : written.sparse_initializer()) made.insert(t.values().name());
  for (const auto& node : written.node()) {
    for (const auto& name : node.input()) CHECK(name.empty() || made.contains(name));
    for (const auto& name : captured_names(node)) CHECK(made.contains(name));
    for (const auto& name : node.output()) CHECK(name.empty() || made.insert(name).second);
  }
  for (const auto& v : written.output()) CHECK(made.contains(v.name()));
}

}  // namespace regraft::io

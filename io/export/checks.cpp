// What is asked of nodes and graphs that are about to be written.
#include <algorithm>
#include <unordered_set>

#include "base/check.h"
#include "io/proto.h"

namespace regraft::io {

std::unordered_set<std::string> names_of(const Model& model) {
  std::unordered_set<std::string> names;
  const auto& graph = model.shell.graph();
  for (const auto& v : graph.input()) names.insert(v.name());
  for (const auto& v : graph.output()) names.insert(v.name());
  for (const auto& t : model.initialisers) names.insert(t->name());
  for (const auto& t : graph.sparse_initializer()) names.insert(t.values().name());
  for (const auto& node : model.nodes) {
    names.insert(node->name());
    names.insert(node->output().begin(), node->output().end());
    for (auto& inner : inner_names(*node)) names.insert(std::move(inner));
  }
  return names;
}

bool is_untouched(const Model& model, const Graph& imported, const Node& node) {
  if (node.origin < 0 || static_cast<size_t>(node.origin) >= model.origins()) return false;
  int32_t id = model.ids[static_cast<size_t>(node.origin)];
  if (id < 0) return false;
  const Node& was = imported.node(id);
  if (node.kind != was.kind || node.op != was.op || node.inputs.size() != was.inputs.size())
    return false;
  if (node.kind == NodeKind::Constant) return same(*node.constant, *was.constant);
  return node.kind != NodeKind::Call || same(node.attrs, was.attrs);
}

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

void set_output(onnx::NodeProto& node, int k, const std::string& name) {
  while (!name.empty() && node.output_size() <= k) node.add_output();
  if (k < node.output_size() && node.output(k) != name) node.set_output(k, name);
}

void import_domain(onnx::ModelProto& model, const std::string& domain) {
  for (const auto& import : model.opset_import())
    if (import.domain() == domain) return;
  auto& import = *model.add_opset_import();
  import.set_domain(domain);
  import.set_version(1);
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

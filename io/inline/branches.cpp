// Branches of conditions that the import decided become part of the main graph.
#include <algorithm>
#include <unordered_set>

#include "io/proto.h"

namespace regraft::io {
namespace {

const onnx::AttributeProto* branch_of(const onnx::NodeProto& node, bool taken) {
  for (const auto& a : node.attribute())
    if (a.name() == (taken ? "then_branch" : "else_branch") && a.has_g()) return &a;
  return nullptr;
}

/// What the model defines outside of node `except`.
std::unordered_set<std::string> names_outside(const Model& model, size_t except) {
  std::unordered_set<std::string> names;
  for (const auto& v : model.shell.graph().input()) names.insert(v.name());
  for (const auto& t : model.initialisers) names.insert(t->name());
  for (size_t k = 0; k < model.nodes.size(); ++k) {
    names.insert(model.nodes[k]->output().begin(), model.nodes[k]->output().end());
    if (k == except) continue;
    for (auto& inner : inner_names(*model.nodes[k])) names.insert(std::move(inner));
  }
  return names;
}

/// ONNX wants all names of a model to be different; a branch of a model that does not keep to it
/// stays where it is.
bool fits(const Model& model, size_t index, const onnx::GraphProto& body) {
  if (body.sparse_initializer_size() > 0 || body.input_size() > 0) return false;
  if (body.output_size() != model.nodes[index]->output_size()) return false;
  auto taken = names_outside(model, index);
  auto is_new = [&](const std::string& name) { return name.empty() || taken.count(name) == 0; };
  return std::ranges::all_of(body.initializer(), [&](auto& t) { return is_new(t.name()); }) &&
         std::ranges::all_of(body.node(), [&](auto& n) {
           return std::all_of(n.output().begin(), n.output().end(), is_new);
         });
}

void inline_branch(Model& model, size_t index, const onnx::GraphProto& body) {
  std::vector<std::unique_ptr<onnx::NodeProto>> nodes;
  for (const auto& n : body.node()) nodes.push_back(std::make_unique<onnx::NodeProto>(n));
  for (int k = 0; k < body.output_size(); ++k) {
    auto identity = std::make_unique<onnx::NodeProto>();
    identity->set_op_type("Identity");
    identity->set_name(model.nodes[index]->name() + "_" + std::to_string(k));
    identity->add_input(body.output(k).name());
    identity->add_output(model.nodes[index]->output(k));
    nodes.push_back(std::move(identity));
  }
  for (const auto& t : body.initializer())
    model.initialisers.push_back(std::make_unique<onnx::TensorProto>(t));
  for (const auto& v : body.value_info()) *model.shell.mutable_graph()->add_value_info() = v;
  auto at = model.nodes.begin() + static_cast<std::ptrdiff_t>(index);
  at = model.nodes.erase(at);
  model.nodes.insert(at, std::make_move_iterator(nodes.begin()),
                     std::make_move_iterator(nodes.end()));
}

}  // namespace

bool inline_decided(Model& model) {
  bool any = false;
  auto decided = std::move(model.decided);
  model.decided.clear();
  for (auto it = decided.rbegin(); it != decided.rend(); ++it) {
    const auto* branch = branch_of(*model.nodes[it->first], it->second);
    if (!branch) continue;
    const onnx::GraphProto body = branch->g();
    if (!fits(model, it->first, body)) continue;
    inline_branch(model, it->first, body);
    any = true;
  }
  return any;
}

}  // namespace regraft::io

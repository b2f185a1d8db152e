#include "io/proto.h"

#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "io/attributes.h"

namespace regraft::io {

std::string describe(const onnx::NodeProto& node, size_t index) {
  return fmt::format("node {} '{}' ({})", index, node.name(), node.op_type());
}

bool is_default_domain(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }

namespace {

std::string qualified(const std::string& domain, const std::string& type) {
  return is_default_domain(domain) ? type : domain + ":" + type;
}

}  // namespace

std::string type_name(const onnx::NodeProto& node) {
  return qualified(node.domain(), node.op_type());
}
std::string type_name(const onnx::FunctionProto& function) {
  return qualified(function.domain(), function.name());
}

std::vector<const onnx::GraphProto*> bodies(const onnx::NodeProto& node) {
  std::vector<const onnx::GraphProto*> found;
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) found.push_back(&attribute.g());
    for (const auto& g : attribute.graphs()) found.push_back(&g);
  }
  return found;
}

namespace {

std::vector<std::string> unique(const std::vector<std::string>& names,
                                const std::unordered_set<std::string>& without) {
  std::vector<std::string> kept;
  std::unordered_set<std::string> seen;
  for (const auto& name : names) {
    if (!name.empty() && without.count(name) == 0 && seen.insert(name).second) kept.push_back(name);
  }
  return kept;
}

std::unordered_set<std::string> bound_names(const onnx::GraphProto& body) {
  std::unordered_set<std::string> bound;
  for (const auto& v : body.input()) bound.insert(v.name());
  for (const auto& t : body.initializer()) bound.insert(t.name());
  for (const auto& t : body.sparse_initializer()) bound.insert(t.values().name());
  for (const auto& node : body.node()) bound.insert(node.output().begin(), node.output().end());
  return bound;
}

}  // namespace

std::vector<std::string> free_names(const onnx::GraphProto& body) {
  std::vector<std::string> read;
  for (const auto& node : body.node()) {
    read.insert(read.end(), node.input().begin(), node.input().end());
    auto inner = captured_names(node);
    read.insert(read.end(), inner.begin(), inner.end());
  }
  for (const auto& v : body.output()) read.push_back(v.name());
  return unique(read, bound_names(body));
}

std::vector<std::string> captured_names(const onnx::NodeProto& node) {
  std::vector<std::string> read;
  for (const auto* body : bodies(node)) {
    auto names = free_names(*body);
    read.insert(read.end(), names.begin(), names.end());
  }
  return unique(read, {});
}

std::vector<std::string> inner_names(const onnx::NodeProto& node) {
  std::vector<std::string> names;
  for (const auto* body : bodies(node)) {
    auto bound = bound_names(*body);
    names.insert(names.end(), bound.begin(), bound.end());
    for (const auto& inner : body->node()) {
      names.push_back(inner.name());
      auto deeper = inner_names(inner);
      names.insert(names.end(), deeper.begin(), deeper.end());
    }
  }
  return names;
}

namespace {

Status visit_sparse(onnx::SparseTensorProto& t, const std::string& where,
                    const TensorVisitor& visit) {
  if (t.has_values()) RETURN_IF_ERROR(visit(*t.mutable_values(), where));
  if (t.has_indices()) RETURN_IF_ERROR(visit(*t.mutable_indices(), where));
  return {};
}

Status visit_graph(onnx::GraphProto& graph, const std::string& where, const TensorVisitor& visit) {
  for (auto& t : *graph.mutable_initializer()) {
    RETURN_IF_ERROR(visit(t, fmt::format("initialiser '{}' {}", t.name(), where)));
  }
  for (auto& t : *graph.mutable_sparse_initializer()) {
    RETURN_IF_ERROR(visit_sparse(t, fmt::format("sparse initialiser {}", where), visit));
  }
  for (int k = 0; k < graph.node_size(); ++k) {
    auto& node = *graph.mutable_node(k);
    std::string place = fmt::format("{} {}", describe(node, static_cast<size_t>(k)), where);
    RETURN_IF_ERROR(visit_tensors(node, place, visit));
  }
  return {};
}

Status visit_attribute(onnx::AttributeProto& a, const std::string& where,
                       const TensorVisitor& visit) {
  if (a.has_t()) RETURN_IF_ERROR(visit(*a.mutable_t(), where));
  for (auto& t : *a.mutable_tensors()) RETURN_IF_ERROR(visit(t, where));
  if (a.has_sparse_tensor())
    RETURN_IF_ERROR(visit_sparse(*a.mutable_sparse_tensor(), where, visit));
  for (auto& t : *a.mutable_sparse_tensors()) RETURN_IF_ERROR(visit_sparse(t, where, visit));
  if (a.has_g()) RETURN_IF_ERROR(visit_graph(*a.mutable_g(), "in " + where, visit));
  for (auto& g : *a.mutable_graphs()) RETURN_IF_ERROR(visit_graph(g, "in " + where, visit));
  return {};
}

}  // namespace

Status visit_tensors(onnx::NodeProto& node, const std::string& where, const TensorVisitor& visit) {
  for (auto& a : *node.mutable_attribute()) {
    RETURN_IF_ERROR(
        visit_attribute(a, fmt::format("attribute '{}' of {}", a.name(), where), visit));
  }
  return {};
}

Status visit_tensors(onnx::ModelProto& shell, const TensorVisitor& visit) {
  for (auto& t : *shell.mutable_graph()->mutable_sparse_initializer()) {
    RETURN_IF_ERROR(
        visit_sparse(t, fmt::format("sparse initialiser '{}'", t.values().name()), visit));
  }
  for (auto& f : *shell.mutable_functions()) {
    for (auto& node : *f.mutable_node()) {
      std::string where = fmt::format("node '{}' of function '{}'", node.name(), f.name());
      RETURN_IF_ERROR(visit_tensors(node, where, visit));
    }
  }
  for (auto& t : *shell.mutable_training_info()) {
    if (t.has_initialization()) {
      RETURN_IF_ERROR(
          visit_graph(*t.mutable_initialization(), "of the training initialisation", visit));
    }
    if (t.has_algorithm()) {
      RETURN_IF_ERROR(visit_graph(*t.mutable_algorithm(), "of the training algorithm", visit));
    }
  }
  return {};
}

bool is_open(const Model& model) {
  auto is_number = [](const auto& d) { return d.has_dim_value(); };
  return (model.enclosing && model.enclosing->open) ||
         std::ranges::any_of(model.shell.graph().input(), [&](const auto& input) {
           const auto& tensor = input.type().tensor_type();
           return !tensor.has_shape() || !std::ranges::all_of(tensor.shape().dim(), is_number);
         });
}

Draft::~Draft() { release_initialisers(); }

void Draft::release_initialisers() {
  if (!proto.has_graph()) return;
  auto* list = proto.mutable_graph()->mutable_initializer();
  while (!list->empty()) list->UnsafeArenaReleaseLast();
}

void Draft::borrow_initialiser(const onnx::TensorProto& tensor) {
  // Only read: own_initialiser copies before anything is changed, ~Draft gives the pointer back.
  auto* borrowed = const_cast<onnx::TensorProto*>(&tensor);
  proto.mutable_graph()->mutable_initializer()->UnsafeArenaAddAllocated(borrowed);
}

onnx::TensorProto* Draft::own_initialiser(int k) {
  auto* list = proto.mutable_graph()->mutable_initializer();
  onnx::TensorProto* tensor = list->Mutable(k);
  for (const auto& m : made_) {
    if (m.get() == tensor) return tensor;
  }
  auto copy = std::make_unique<onnx::TensorProto>(*tensor);
  onnx::TensorProto* mine = copy.get();
  made_.push_back(std::move(copy));
  list->UnsafeArenaAddAllocated(mine);
  list->SwapElements(k, list->size() - 1);
  list->UnsafeArenaReleaseLast();
  return mine;
}

onnx::TensorProto* Draft::make_initialiser(std::shared_ptr<const Constant> data) {
  auto tensor = std::make_unique<onnx::TensorProto>();
  onnx::TensorProto* mine = tensor.get();
  made_.push_back(std::move(tensor));
  proto.mutable_graph()->mutable_initializer()->UnsafeArenaAddAllocated(mine);
  fill(*mine, std::move(data));
  return mine;
}

void Draft::fill(onnx::TensorProto& tensor, std::shared_ptr<const Constant> data) {
  tensor.set_data_type(static_cast<int32_t>(data->dtype()));
  for (int64_t d : data->dims()) tensor.add_dims(d);
  pending.push_back({&tensor, std::move(data)});
}

Result<std::vector<size_t>> schedule(const Model& model) {
  std::unordered_map<std::string_view, size_t> maker;
  for (size_t k = 0; k < model.nodes.size(); ++k) {
    for (const auto& name : model.nodes[k]->output()) maker.emplace(name, k);
  }
  std::vector<std::vector<size_t>> readers(model.nodes.size());
  std::vector<int> missing(model.nodes.size(), 0);
  for (size_t k = 0; k < model.nodes.size(); ++k) {
    std::unordered_set<size_t> from;
    auto note = [&](const std::string& name) {
      if (auto m = maker.find(name); !name.empty() && m != maker.end()) from.insert(m->second);
    };
    for (const auto& name : model.nodes[k]->input()) note(name);
    for (const auto& name : model.imprints[k].captured) note(name);
    for (size_t m : from) readers[m].push_back(k);
    missing[k] = static_cast<int>(from.size());
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t k = 0; k < missing.size(); ++k) {
    if (missing[k] == 0) ready.push(k);
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (size_t r : readers[order.back()]) {
      if (--missing[r] == 0) ready.push(r);
    }
  }
  for (size_t k = 0; k < missing.size(); ++k) {
    if (missing[k] > 0)
      return error(describe(*model.nodes[k], k) + " is part of a cycle, or reads one");
  }
  return order;
}

int output_of(const Model& model, size_t index, int k) {
  const auto& results = model.imprints[index].results;
  return results.empty() ? k : results[static_cast<size_t>(k)];
}

std::string output_name(const Model& model, size_t index, int k) {
  int at = output_of(model, index, k);
  const auto& outputs = model.nodes[index]->output();
  return at < outputs.size() ? outputs[at] : std::string();
}

OnnxNode neutral_node(const Model& model, size_t index, const Graph& graph) {
  const auto& proto = *model.nodes[index];
  OnnxNode node;
  node.type = type_name(proto);
  node.opset = model.opset;
  node.outputs = proto.output_size();
  for (const auto& a : proto.attribute()) node.attrs[a.name()] = neutral(a);
  for (Value v : model.imprints[index].inputs) {
    OnnxInput in;
    in.present = v.node >= 0;
    if (in.present) {
      in.type = graph.type(v);
      in.sizes = graph.node(v.node).sizes;
      if (graph.node(v.node).kind == NodeKind::Constant) in.constant = graph.node(v.node).constant;
    }
    node.inputs.push_back(std::move(in));
  }
  return node;
}

}  // namespace regraft::io

#include "io/bodies/bodies.h"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "io/proto.h"

namespace regraft::io {
namespace {

/// The nodes whose bodies are functions of their formal inputs and of what they capture.
constexpr std::array<std::string_view, 3> kControlFlow = {"If", "Loop", "Scan"};

bool is_control_flow(const onnx::NodeProto& node) {
  return is_default_domain(node.domain()) &&
         std::find(kControlFlow.begin(), kControlFlow.end(), node.op_type()) != kControlFlow.end();
}

/// The position of the attribute that holds the body; -1: there is none.
int attribute_of(const onnx::NodeProto& node, const std::string& name) {
  for (int k = 0; k < node.attribute_size(); ++k)
    if (node.attribute(k).name() == name && node.attribute(k).has_g()) return k;
  return -1;
}

bool is_place(const Model& model, const BodyPlace& place) {
  if (place.node < 0 || !model.is_node(place.node)) return false;
  const auto& node = *model.nodes[static_cast<size_t>(place.node)];
  return is_control_flow(node) && attribute_of(node, place.attribute) >= 0 &&
         model.ids[static_cast<size_t>(place.node)] >= 0;
}

const onnx::GraphProto& body_at(const Model& model, const BodyPlace& place) {
  const auto& node = *model.nodes[static_cast<size_t>(place.node)];
  return node.attribute(attribute_of(node, place.attribute)).g();
}

/// A size outside is none that the body names, whatever their names.
onnx::ValueInfoProto declared(const OuterInput& input) {
  onnx::ValueInfoProto info;
  info.set_name(input.name);
  if (input.type.dtype == DType::Undefined) return info;
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(static_cast<int>(input.type.dtype));
  if (!input.type.shape) return info;
  tensor.mutable_shape();  // present for a scalar, too
  for (const Poly& d : *input.type.shape) {
    auto& dim = *tensor.mutable_shape()->add_dim();
    if (d.is_constant())
      dim.set_dim_value(d.constant());
    else if (Var symbol = symbol_of(d))
      dim.set_dim_param("outer " + symbol->name);
  }
  return info;
}

std::shared_ptr<Enclosing> enclosing_of(const Model& outer, const BodyPlace& place) {
  auto around = std::make_shared<Enclosing>();
  const std::string prefix = outer.enclosing ? outer.enclosing->prefix : "regraft";
  const auto& node = *outer.nodes[static_cast<size_t>(place.node)];
  around->prefix = fmt::format("{}_{}_{}", prefix, place.node, attribute_of(node, place.attribute));
  around->open = is_open(outer);
  return around;
}

/// A captured constant: its data stays where it is.
std::shared_ptr<onnx::TensorProto> without_data(const std::string& name, const Constant& data) {
  auto stub = std::make_shared<onnx::TensorProto>();
  stub->set_name(name);
  stub->set_data_type(static_cast<int32_t>(data.dtype()));
  for (int64_t d : data.dims()) stub->add_dims(d);
  return stub;
}

std::shared_ptr<const Constant> constant_at(const Imported& outer, const Capture& capture) {
  const Node& node = outer.graph.node(capture.value.node);
  return node.kind == NodeKind::Constant ? node.constant : nullptr;
}

/// Data in the message itself.
Status fill(Draft& draft) {
  for (const auto& p : draft.pending) {
    ASSIGN_OR_RETURN(std::vector<std::byte> bytes, p.data->bytes());
    p.tensor->set_raw_data(bytes.data(), bytes.size());
  }
  draft.pending.clear();
  return {};
}

/// The body that a graph is written as.
Result<onnx::GraphProto> written(const NewBody& body) {
  const Enclosing& around = *body.base.model->enclosing;
  ASSIGN_OR_RETURN(Draft draft, export_graph(body.base, body.graph));
  RETURN_IF_ERROR(fill(draft));
  onnx::GraphProto own;
  for (const auto& t : draft.proto.graph().initializer())
    if (around.captured.count(t.name()) == 0) *own.add_initializer() = t;
  draft.release_initialisers();
  onnx::GraphProto graph;
  graph.Swap(draft.proto.mutable_graph());
  graph.mutable_initializer()->Swap(own.mutable_initializer());
  auto* inputs = graph.mutable_input();
  inputs->erase(std::remove_if(inputs->begin(), inputs->end(),
                               [&](auto& v) { return around.captured.count(v.name()) > 0; }),
                inputs->end());
  return graph;
}

/// Each formal input, initialiser and captured value has a name of its own.
bool is_plain(const onnx::GraphProto& body, const std::vector<OuterInput>& inputs) {
  std::unordered_set<std::string_view> names;
  auto is_new = [&](const std::string& name) { return !name.empty() && names.insert(name).second; };
  return std::all_of(body.input().begin(), body.input().end(),
                     [&](auto& v) { return is_new(v.name()); }) &&
         std::ranges::all_of(inputs, [&](auto& in) { return is_new(in.name); }) &&
         std::ranges::all_of(body.initializer(), [&](auto& t) { return is_new(t.name()); });
}

int64_t nodes_in_bodies(const onnx::NodeProto& node) {
  int64_t count = 0;
  for (const auto* body : bodies(node))
    for (const auto& inner : body->node()) count += 1 + nodes_in_bodies(inner);
  return count;
}

}  // namespace

int64_t nodes_in_bodies(const Imported& model) {
  int64_t count = 0;
  for (const auto& node : model.model->nodes) count += nodes_in_bodies(*node);
  return count;
}

std::vector<BodyPlace> body_places(const Imported& outer) {
  const Model& model = *outer.model;
  std::vector<BodyPlace> places;
  for (size_t k = 0; k < model.nodes.size(); ++k)
    for (const auto& a : model.nodes[k]->attribute())
      if (BodyPlace place{static_cast<int32_t>(k), a.name()}; is_place(model, place))
        places.push_back(std::move(place));
  return places;
}

std::string describe(const Imported& outer, const BodyPlace& place) {
  auto k = static_cast<size_t>(place.node);
  return fmt::format("{} of {}", place.attribute, describe(*outer.model->nodes[k], k));
}

std::vector<Capture> captures(const Imported& outer, const BodyPlace& place) {
  const Model& model = *outer.model;
  const Imprint& imprint = model.imprints[static_cast<size_t>(place.node)];
  const Node& node = outer.graph.node(model.ids[static_cast<size_t>(place.node)]);
  auto read = free_names(body_at(model, place));
  std::vector<Capture> found;
  for (size_t k = 0; k < imprint.captured.size(); ++k)
    if (std::ranges::find(read, imprint.captured[k]) != read.end())
      found.push_back({imprint.captured[k], node.inputs[imprint.inputs.size() + k]});
  return found;
}

Result<Imported> body_model(const Imported& outer, const BodyPlace& place) {
  if (!is_place(*outer.model, place)) return error("the model has no such body");
  std::vector<OuterInput> inputs;
  for (const Capture& c : captures(outer, place))
    if (!constant_at(outer, c)) inputs.push_back({c.name, outer.graph.type(c.value)});
  return body_model(outer, place, inputs);
}

Result<Imported> body_model(const Imported& outer, const BodyPlace& place,
                            const std::vector<OuterInput>& inputs) {
  const Model& model = *outer.model;
  if (!is_place(model, place)) return error("the model has no such body");
  const onnx::GraphProto& body = body_at(model, place);
  if (!is_plain(body, inputs)) return error("names in a body are not unique");
  auto around = enclosing_of(model, place);
  auto inner = std::make_shared<Model>();
  inner->name = model.name;
  inner->folder = model.folder;
  inner->shell.set_ir_version(model.ir_version);
  *inner->shell.mutable_opset_import() = model.shell.opset_import();
  *inner->shell.mutable_functions() = model.shell.functions();
  *inner->shell.mutable_graph() = body;
  for (const OuterInput& in : inputs) {
    *inner->shell.mutable_graph()->add_input() = declared(in);
    around->captured.insert(in.name);
  }
  for (const Capture& c : captures(outer, place)) {
    if (around->captured.count(c.name) > 0) continue;
    auto data = constant_at(outer, c);
    if (!data) return error("a body reads '" + c.name + "', which is not known");
    auto stub = without_data(c.name, *data);
    inner->held[stub.get()] = std::move(data);
    inner->initialisers.push_back(std::move(stub));
    around->captured.insert(c.name);
  }
  inner->enclosing = std::move(around);
  inner->names = model.names;
  return import_model(inner);
}

Result<Imported> with_bodies(const Imported& outer, const std::vector<NewBody>& bodies) {
  const Model& was = *outer.model;
  auto model = std::make_shared<Model>();
  model->name = was.name;
  model->folder = was.folder;
  model->shell = was.shell;
  model->initialisers = was.initialisers;
  model->held = was.held;
  model->enclosing = was.enclosing;
  if (was.enclosing) model->names = was.names;
  auto& nodes = *model->shell.mutable_graph()->mutable_node();
  for (const auto& node : was.nodes) *nodes.Add() = *node;
  for (const NewBody& body : bodies) {
    if (!is_place(was, body.place)) return error("the model has no such body");
    ASSIGN_OR_RETURN(onnx::GraphProto graph, written(body));
    auto& node = nodes[body.place.node];
    *node.mutable_attribute(attribute_of(node, body.place.attribute))->mutable_g() =
        std::move(graph);
  }
  auto next = import_model(model);
  // What only the old bodies read is not among what nothing ever read, which would be kept.
  if (next && model->used.size() == was.used.size())
    for (size_t k = 0; k < was.used.size(); ++k) model->used[k] |= was.used[k];
  return next;
}

Result<bool> is_same_body(const Imported& outer, const NewBody& body) {
  ASSIGN_OR_RETURN(onnx::GraphProto graph, written(body));
  return graph.SerializeAsString() == body_at(*outer.model, body.place).SerializeAsString();
}

}  // namespace regraft::io

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "io/attributes.h"
#include "io/content.h"
#include "io/proto.h"
#include "io/shapes/assumptions.h"
#include "io/shapes/declared.h"
#include "io/shapes/operands.h"
#include "io/shapes/size_arithmetic.h"
#include "io/shapes/size_values.h"
#include "io/shapes/size_writer.h"
#include "io/shapes/types.h"
#include "io/tensors.h"
#include "ir/graph/equal_nodes.h"

namespace regraft::io {
namespace {

constexpr int kFirstOpset = 7, kLastOpset = 26;

class Importer {
 public:
  explicit Importer(const std::shared_ptr<Model>& model)
      : owner_(model), model_(*model), contents_(model) {}
  Result<Graph> run();

 private:
  void note_uses();
  void add_inputs();
  Status add_initialisers();
  Status add_node(size_t index);
  Status add_outputs();
  void name_output(Value v, const std::string& name);
  OnnxNode described(size_t index) const;
  bool is_specified(const onnx::NodeProto& proto, const OnnxNode& node) const;
  bool add_known_constant(size_t index, const OnnxNode& node);
  bool add_call(size_t index, const OnnxNode& node);
  bool try_call(size_t index, const OnnxNode& node, const OpDef& op);
  Status add_opaque(size_t index, const OnnxNode& node);
  void note_decision(size_t index, const OnnxNode& node);
  bool add_alias(size_t index, const OnnxNode& node);
  bool add_size_values(size_t index, const OnnxNode& node);
  void add_sizes(size_t index, int output, const SizeTensorPtr& sizes);
  std::vector<std::string> output_names(size_t index, size_t count) const;
  bool has_results(size_t index, const std::vector<int>& results) const;
  void define(size_t index, int32_t id, size_t outputs);
  Value absent();
  void add(Node node, int32_t origin, std::string name);
  int32_t insert(Node node);
  bool is_used(const std::string& name) const { return uses_.count(name) > 0; }

  std::shared_ptr<Model> owner_;
  Model& model_;
  const bool open_ = is_open(model_);
  Contents contents_;
  Graph graph_;
  EqualNodes equal_{graph_};
  std::unordered_map<std::string, Value> values_;
  std::map<Value, SizeTensorPtr> sizes_;  // what is known of computed integers
  std::unordered_map<std::string_view, const onnx::ValueInfoProto*> infos_;
  std::unordered_set<std::string_view> uses_;
  std::unordered_set<std::string> functions_;  // local functions
  Value absent_;
  std::set<Value> named_;  // outputs that have their name
  SizeTensorPtr noted_;    // what is known of the node that is being added
  bool noted_is_real_ = false;
  std::set<Value> real_;  // known numbers that follow from constants of the model
};

Result<Graph> Importer::run() {
  size_t sparse = static_cast<size_t>(model_.shell.graph().sparse_initializer_size());
  size_t origins = model_.nodes.size() + model_.initialisers.size() + sparse;
  model_.ids.assign(origins, -1);
  model_.imprints.assign(model_.nodes.size(), {});
  model_.decided.clear();
  for (size_t k = 0; k < model_.nodes.size(); ++k) {
    model_.imprints[k].captured = captured_names(*model_.nodes[k]);
  }
  const auto& g = model_.shell.graph();
  for (const auto& v : g.output()) infos_.emplace(v.name(), &v);
  for (const auto& v : g.value_info()) infos_.emplace(v.name(), &v);
  for (const auto& f : model_.shell.functions()) {
    functions_.insert(type_name(f));
  }
  note_uses();
  add_inputs();
  RETURN_IF_ERROR(add_initialisers());
  ASSIGN_OR_RETURN(std::vector<size_t> order, schedule(model_));
  for (size_t index : order) RETURN_IF_ERROR(add_node(index));
  RETURN_IF_ERROR(add_outputs());
  return graph_;
}

void Importer::note_uses() {
  for (const auto& v : model_.shell.graph().output()) uses_.insert(v.name());
  for (size_t k = 0; k < model_.nodes.size(); ++k) {
    for (const auto& name : model_.nodes[k]->input()) uses_.insert(name);
    for (const auto& name : model_.imprints[k].captured) uses_.insert(name);
  }
  uses_.erase("");
  size_t n = model_.nodes.size();
  model_.used.assign(model_.origins(), 0);
  for (size_t k = 0; k < n; ++k) {
    for (const auto& name : model_.nodes[k]->output()) model_.used[k] |= is_used(name);
  }
  for (size_t k = 0; k < model_.initialisers.size(); ++k) {
    model_.used[n + k] = is_used(model_.initialisers[k]->name());
  }
}

void Importer::add_inputs() {
  std::unordered_set<std::string_view> fixed;
  if (model_.ir_version < 4) {
    for (const auto& t : model_.initialisers) fixed.insert(t->name());
  }
  for (const auto& v : model_.shell.graph().input()) {
    if (fixed.count(v.name()) > 0) continue;
    const bool formal = model_.enclosing && model_.enclosing->captured.count(v.name()) == 0;
    auto type = formal && open_ ? declared_rank : declared_type;
    values_[v.name()] = graph_.add_input(possible(type(v, graph_.pool())), v.name());
  }
  graph_.pool().close_inputs();
}

void Importer::add(Node node, int32_t origin, std::string name) {
  node.origin = origin;
  node.names = {name};
  int32_t equal = equal_.find(node), id = graph_.add_node(std::move(node));
  if (equal < 0) equal_.add(id);
  model_.ids[static_cast<size_t>(origin)] = id;
  values_[std::move(name)] = {equal < 0 ? id : equal, 0};
}

/// The node, or one that computes the same.
int32_t Importer::insert(Node node) {
  if (int32_t equal = equal_.find(node); equal >= 0) return equal;
  int32_t id = graph_.add_node(std::move(node));
  equal_.add(id);
  return id;
}

Node constant_node(std::shared_ptr<const Constant> data) {
  Node node;
  node.kind = NodeKind::Constant;
  Shape shape(data->dims().begin(), data->dims().end());
  node.types = {{data->dtype(), std::move(shape)}};
  node.constant = std::move(data);
  return node;
}

/// Data that the graph carries without understanding it: text, 4-bit and sparse tensors.
Node carried_node(int32_t type, std::optional<Shape> shape) {
  Node node;
  node.kind = NodeKind::Opaque;
  node.pure = true;
  node.types = {{static_cast<DType>(type), std::move(shape)}};
  return node;
}

Status Importer::add_initialisers() {
  size_t origin = model_.nodes.size();
  for (const auto& t : model_.initialisers) {
    auto at = static_cast<int32_t>(origin++);
    if (values_.count(t->name()) > 0) continue;  // an input with a default
    auto data = constant_of(*t, owner_);
    Shape shape(t->dims().begin(), t->dims().end());
    Node node = data ? constant_node(data) : carried_node(t->data_type(), shape);
    if (!data) node.constant = carried_data(*t, owner_);
    add(std::move(node), at, t->name());
  }
  for (const auto& t : model_.shell.graph().sparse_initializer()) {
    auto at = static_cast<int32_t>(origin++);
    if (values_.count(t.values().name()) > 0) continue;
    Shape shape(t.dims().begin(), t.dims().end());
    Node node = carried_node(t.values().data_type(), shape);
    auto digest = contents_.of(t);
    if (!digest)
      return error(
          fmt::format("sparse initialiser '{}' {}", t.values().name(), digest.error().message));
    node.content = *digest;
    add(std::move(node), at, t.values().name());
  }
  return {};
}

OnnxNode Importer::described(size_t index) const {
  OnnxNode node = neutral_node(model_, index, graph_);
  for (size_t k = 0; k < node.inputs.size(); ++k)
    if (auto known = sizes_.find(model_.imprints[index].inputs[k]); known != sizes_.end())
      node.inputs[k].sizes = known->second;
  return node;
}

/// Is its meaning that of the operator sets that operator files know?
bool Importer::is_specified(const onnx::NodeProto& proto, const OnnxNode& node) const {
  bool known = is_default_domain(proto.domain()) || proto.domain() == kMicrosoft;
  return known && functions_.count(node.type) == 0 && model_.opset >= kFirstOpset &&
         model_.opset <= kLastOpset;
}

Status Importer::add_node(size_t index) {
  const auto& proto = *model_.nodes[index];
  Imprint& imprint = model_.imprints[index];
  for (const auto& name : proto.input()) {
    auto v = values_.find(name);
    if (!name.empty() && v == values_.end()) {
      return error(fmt::format("{} reads '{}', which nothing makes", describe(proto, index), name));
    }
    imprint.inputs.push_back(name.empty() ? Value{} : v->second);
  }
  for (const auto& name : imprint.captured) {
    if (values_.count(name) == 0) {
      return error(fmt::format("a body of {} reads '{}', which nothing makes",
                               describe(proto, index), name));
    }
  }
  OnnxNode node = described(index);
  noted_ = nullptr;
  noted_is_real_ = false;
  note_decision(index, node);
  if (is_specified(proto, node) && imprint.captured.empty() && bodies(proto).empty()) {
    if (auto place = mixed_operand(node)) {
      return error(fmt::format("{}: input {} is {} where input 0 is {}", describe(proto, index),
                               *place, to_string(node.inputs[*place].type.dtype),
                               to_string(node.inputs[0].type.dtype)));
    }
    if (add_alias(index, node) || add_known_constant(index, node) || add_size_values(index, node) ||
        add_call(index, node))
      return {};
  }
  return add_opaque(index, node);
}

/// An If whose condition depends on nothing that may change.
void Importer::note_decision(size_t index, const OnnxNode& node) {
  if (node.type != "If" || node.inputs.size() != 1 || !node.inputs[0].constant) return;
  auto condition = node.inputs[0].constant->integers();
  if (condition && condition->size() == 1) model_.decided[index] = condition->front() != 0;
}

/// What hands an input on is that input: no node.
bool Importer::add_alias(size_t index, const OnnxNode& node) {
  if (model_.nodes[index]->output_size() == 0) return false;
  auto part = only_part(node);
  if (!part) part = unchanged_operand(node);
  if (!(part || hands_on(node)) || model_.nodes[index]->output(0).empty()) return false;
  for (int k = 1; k < node.outputs; ++k)
    if (is_used(model_.nodes[index]->output(k))) return false;
  values_[model_.nodes[index]->output(0)] = model_.imprints[index].inputs[part.value_or(0)];
  return true;
}

/// What depends on shapes alone is a constant, or a leaf that the exporter computes anew. False: it
/// is not, but what is known of it may be noted. Real numbers that are computed from constants are
/// only noted: folding them rounds, unless they are only moved.
bool Importer::add_size_values(size_t index, const OnnxNode& node) {
  bool asks = asks_sizes(node), few = !asks && reads_few_numbers(node);
  if (!asks && !few) return false;
  bool real = few && !keeps_elements(node);
  auto values = size_values(node, graph_.pool());
  if (values.size() != static_cast<size_t>(node.outputs)) return false;
  for (Value v : model_.imprints[index].inputs) real = real || real_.count(v) > 0;
  real = real && std::ranges::any_of(values, [](auto& t) { return is_real(t->dtype); });
  bool leaves = !real && std::ranges::all_of(
                             values, [](auto& t) { return is_numeric(*t) || is_computable(*t); });
  noted_is_real_ = real;
  if (leaves) {
    for (size_t k = 0; k < values.size(); ++k) add_sizes(index, static_cast<int>(k), values[k]);
  } else if (values.size() == 1) {
    noted_ = values[0];
  }
  return leaves;
}

/// A node that has no place in the file: it is written anew, if something reads it.
void Importer::add_sizes(size_t index, int output, const SizeTensorPtr& sizes) {
  const std::string& name = model_.nodes[index]->output(output);
  Node leaf;
  if (name.empty()) return;
  if (is_numeric(*sizes)) {
    leaf = constant_node(constant_of(*sizes));
  } else {
    leaf.kind = NodeKind::Opaque;
    leaf.pure = true;
    leaf.types = {{sizes->dtype, Shape(sizes->dims.begin(), sizes->dims.end())}};
    leaf.sizes = sizes;
    leaf.content = io::digest_of(*sizes, graph_);
  }
  leaf.names = {name};
  Value v{insert(std::move(leaf)), 0};
  values_[name] = v;
  sizes_[v] = sizes;
}

bool Importer::add_known_constant(size_t index, const OnnxNode& node) {
  const auto& proto = *model_.nodes[index];
  auto data = known_constant(node, proto, owner_);
  if (!data || proto.output_size() != 1 || proto.output(0).empty()) return false;
  add(constant_node(std::move(data)), static_cast<int32_t>(index), proto.output(0));
  return true;
}

/// Outputs up to the last one that is read, at least one.
int trimmed_outputs(const onnx::NodeProto& node, const std::unordered_set<std::string_view>& uses) {
  int n = node.output_size();
  while (n > 1 && uses.count(node.output(n - 1)) == 0) --n;
  return n;
}

bool Importer::add_call(size_t index, const OnnxNode& node) {
  for (const OpDef* op : ops_for_onnx(node.type)) {
    if (!is_readable(node, *op)) continue;
    OnnxNode form = node;
    if (op->outputs != 0) form.outputs = trimmed_outputs(*model_.nodes[index], uses_);
    try {
      if (try_call(index, form, *op)) return true;
    } catch (const PolyOverflow&) {
      // Sizes beyond 64 bits: leave the node alone.
    }
  }
  return false;
}

bool Importer::try_call(size_t index, const OnnxNode& node, const OpDef& op) {
  auto import = op.from_onnx(node);
  if (!import || !fits(node, import->operands)) return false;
  std::vector<int> results = std::move(import->results);
  int count = results.empty() ? node.outputs : static_cast<int>(results.size());
  if (output_count(op, import->attrs) != count || !has_results(index, results)) return false;
  std::vector<Value> operands;
  for (int k : import->operands) {
    operands.push_back(model_.imprints[index].inputs[static_cast<size_t>(k)]);
  }
  bool fits_plainly = true;
  std::vector<Formula> required;
  auto on_require = [&](const Formula& f) {
    fits_plainly = fits_plainly && f.kind != Formula::False && !asks_equality(f);
    required.push_back(f);
  };
  std::vector<TensorType> operand_types;
  for (Value v : operands) operand_types.push_back(graph_.type(v));
  auto types = infer_call(graph_.pool(), op, operand_types, import->attrs, on_require);
  if (!types || !fits_plainly) return false;
  auto plausible = [](const TensorType& t) { return !t.shape || is_plausible(*t.shape); };
  if (!std::ranges::all_of(*types, plausible)) return false;
  Node call;
  call.op = &op;
  call.attrs = std::move(import->attrs);
  call.inputs = std::move(operands);
  call.types = std::move(*types);
  call.origin = static_cast<int32_t>(index);
  assume_sizes(graph_.pool(), call, operand_types, required, model_.opset);
  model_.imprints[index].operands = import->operands;
  model_.imprints[index].results = std::move(results);
  size_t outputs = call.types.size();
  call.names = output_names(index, outputs);
  define(index, insert(std::move(call)), outputs);
  return true;
}

/// Are all outputs that something reads among them?
bool Importer::has_results(size_t index, const std::vector<int>& results) const {
  if (results.empty()) return true;
  const auto& outputs = model_.nodes[index]->output();
  for (int k = 0; k < outputs.size(); ++k)
    if (is_used(outputs[k]) && std::ranges::count(results, k) == 0) return false;
  return true;
}

std::vector<std::string> Importer::output_names(size_t index, size_t count) const {
  std::vector<std::string> names;
  for (size_t k = 0; k < count; ++k)
    names.push_back(output_name(model_, index, static_cast<int>(k)));
  return names;
}

void Importer::define(size_t index, int32_t id, size_t outputs) {
  model_.ids[index] = id;
  for (size_t k = 0; k < outputs; ++k) {
    std::string name = output_name(model_, index, static_cast<int>(k));
    if (!name.empty()) values_[std::move(name)] = {id, static_cast<int32_t>(k)};
  }
  if (!noted_) return;
  sizes_[{id, 0}] = noted_;
  if (noted_is_real_) real_.insert({id, 0});
}

Value Importer::absent() {
  if (absent_.node < 0) {
    Node node;
    node.kind = NodeKind::Absent;
    node.types = {TensorType{}};
    absent_ = {graph_.add_node(std::move(node)), 0};
  }
  return absent_;
}

Status Importer::add_opaque(size_t index, const OnnxNode& node) {
  const auto& proto = *model_.nodes[index];
  Node opaque;
  opaque.kind = NodeKind::Opaque;
  drop_zero_inputs(graph_, model_, index);
  for (Value v : model_.imprints[index].inputs) opaque.inputs.push_back(v.node < 0 ? absent() : v);
  for (const auto& name : model_.imprints[index].captured)
    opaque.inputs.push_back(values_.at(name));
  opaque.types.resize(static_cast<size_t>(node.outputs));
  if (is_specified(proto, node)) opaque.types = output_types(node, graph_.pool());
  if (is_default_domain(proto.domain()) && proto.op_type() == "If")
    opaque.types = types_of_branches(proto, graph_.pool());
  for (size_t k = 0; k < opaque.types.size(); ++k) {
    auto info = infos_.find(proto.output(static_cast<int>(k)));
    if (info != infos_.end()) {
      auto type = open_ ? declared_rank : declared_type;
      opaque.types[k] = merge(opaque.types[k], type(*info->second, graph_.pool()));
    }
    opaque.types[k] = possible(std::move(opaque.types[k]));
  }
  auto content = contents_.of(proto);
  if (!content)
    return error(fmt::format("{}: {}", describe(proto, index), content.error().message));
  opaque.content = content->digest;
  opaque.pure = content->pure;
  opaque.origin = static_cast<int32_t>(index);
  opaque.names = output_names(index, opaque.types.size());
  size_t outputs = opaque.types.size();
  define(index, insert(std::move(opaque)), outputs);
  return {};
}

/// What computes an output has its name, also where a node that handed it on is gone; the first of
/// several.
void Importer::name_output(Value v, const std::string& name) {
  Node node = graph_.node(v.node);
  bool fixed = node.kind == NodeKind::Input || (node.origin >= 0 && !model_.is_node(node.origin));
  if (fixed || !named_.insert(v).second) return;
  auto k = static_cast<size_t>(v.output);
  if (node.names.size() <= k) node.names.resize(k + 1);
  if (node.names[k] == name) return;
  node.names[k] = name;
  graph_.replace_node(v.node, std::move(node));
}

Status Importer::add_outputs() {
  std::vector<Value> outputs;
  for (const auto& v : model_.shell.graph().output()) {
    auto value = values_.find(v.name());
    if (value == values_.end()) return error("nothing makes the graph output '" + v.name() + "'");
    outputs.push_back(value->second);
    name_output(value->second, v.name());
  }
  graph_.set_outputs(std::move(outputs));
  return {};
}

}  // namespace

Result<Graph> import_graph(const std::shared_ptr<Model>& model) { return Importer(model).run(); }

}  // namespace regraft::io

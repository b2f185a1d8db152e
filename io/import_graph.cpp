#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "io/attributes.h"
#include "io/content.h"
#include "io/proto.h"
#include "io/shapes/types.h"
#include "io/tensors.h"

namespace regraft::io {
namespace {

constexpr int kFirstOpset = 7, kLastOpset = 26;
constexpr int64_t kMaxElements = int64_t{1} << 46;  // more is a mistake, not a tensor

TensorType type_of(const onnx::ValueInfoProto& info, SymbolPool& pool) {
  TensorType type;
  if (!info.type().has_tensor_type()) return type;
  const auto& tensor = info.type().tensor_type();
  type.dtype = static_cast<DType>(tensor.elem_type());
  if (!tensor.has_shape()) return type;
  type.shape = Shape{};
  for (const auto& d : tensor.shape().dim()) {
    if (d.has_dim_value() && d.dim_value() >= 0) {
      type.shape->emplace_back(d.dim_value());
    } else if (d.has_dim_param() && !d.dim_param().empty()) {
      type.shape->push_back(Poly::symbol(pool.named(d.dim_param())));
    } else {
      type.shape->push_back(Poly::symbol(pool.fresh("d", SymbolKind::Size, 1)));
    }
  }
  return type;
}

/// A shape whose known sizes no tensor can have says nothing.
TensorType possible(TensorType type) {
  int64_t count = 1;
  for (const Poly& d : type.shape.value_or(Shape{}))
    if (d.is_constant() && d.constant() > 0 &&
        (__builtin_mul_overflow(count, d.constant(), &count) || count > kMaxElements)) {
      type.shape = std::nullopt;
      break;
    }
  return type;
}

bool is_empty(const Shape& shape) {
  return std::any_of(shape.begin(), shape.end(), [](const Poly& d) { return d.is_zero(); });
}

/// Nodes with each after those it reads; in file order where that is one.
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
  OnnxNode neutral_node(size_t index) const;
  bool add_known_constant(size_t index, const OnnxNode& node);
  bool add_call(size_t index, const OnnxNode& node);
  bool try_call(size_t index, const OnnxNode& node, const OpDef& op);
  Status add_opaque(size_t index, const OnnxNode& node);
  std::vector<TensorType> registry_types(const OnnxNode& node);
  std::vector<TensorType> output_types(const OnnxNode& node, bool standard);
  std::vector<std::string> output_names(size_t index, size_t count) const;
  void define(size_t index, int32_t id, size_t outputs);
  Value absent();
  int32_t add(Node node, int32_t origin, std::string name);
  bool is_used(const std::string& name) const { return uses_.count(name) > 0; }

  std::shared_ptr<Model> owner_;
  Model& model_;
  Contents contents_;
  Graph graph_;
  std::unordered_map<std::string, Value> values_;
  std::unordered_map<std::string_view, const onnx::ValueInfoProto*> infos_;
  std::unordered_set<std::string_view> uses_;
  std::unordered_set<std::string> functions_;  // local functions of the default domain
  Value absent_;
};

Result<Graph> Importer::run() {
  size_t sparse = static_cast<size_t>(model_.shell.graph().sparse_initializer_size());
  size_t origins = model_.nodes.size() + model_.initialisers.size() + sparse;
  model_.ids.assign(origins, -1);
  model_.imprints.resize(model_.nodes.size());
  for (size_t k = 0; k < model_.nodes.size(); ++k) {
    model_.imprints[k].captured = captured_names(*model_.nodes[k]);
  }
  const auto& g = model_.shell.graph();
  for (const auto& v : g.output()) infos_.emplace(v.name(), &v);
  for (const auto& v : g.value_info()) infos_.emplace(v.name(), &v);
  for (const auto& f : model_.shell.functions()) {
    if (is_default_domain(f.domain())) functions_.insert(f.name());
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
    values_[v.name()] = graph_.add_input(possible(type_of(v, graph_.pool())), v.name());
  }
}

int32_t Importer::add(Node node, int32_t origin, std::string name) {
  node.origin = origin;
  node.names = {name};
  int32_t id = graph_.add_node(std::move(node));
  model_.ids[static_cast<size_t>(origin)] = id;
  values_[std::move(name)] = {id, 0};
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

OnnxNode Importer::neutral_node(size_t index) const {
  const auto& proto = *model_.nodes[index];
  OnnxNode node;
  node.type = proto.op_type();
  node.opset = model_.opset;
  node.outputs = proto.output_size();
  for (const auto& a : proto.attribute()) node.attrs[a.name()] = neutral(a);
  for (Value v : model_.imprints[index].inputs) {
    OnnxInput in;
    in.present = v.node >= 0;
    if (in.present) in.type = graph_.type(v);
    if (in.present && graph_.node(v.node).kind == NodeKind::Constant)
      in.constant = graph_.node(v.node).constant;
    node.inputs.push_back(std::move(in));
  }
  return node;
}

/// What operators may take for granted: their first inputs are present, of a small known rank.
bool is_readable(const OnnxNode& node, const OpDef& op) {
  auto arity = static_cast<size_t>(std::max(op.min_arity, 1));
  if (node.inputs.size() < arity) return false;
  const OnnxInput& first = node.inputs[0];
  return first.present && first.type.shape && first.type.shape->size() <= kMaxRank &&
         !is_empty(*first.type.shape);
}

/// An operand that is no real number while operand 0 is, or the reverse, of an operator whose
/// operands are of one type.
std::optional<size_t> mixed_operand(const OnnxNode& node) try {
  for (const OpDef* op : ops_for_onnx(node.type)) {
    bool alike = op->typed == &one_real_type || op->typed == &one_type;
    if (!alike || !is_readable(node, *op)) continue;
    auto import = op->from_onnx(node);
    if (!import || import->operands.empty() || import->operands[0] != 0) continue;
    DType first = node.inputs[0].type.dtype;
    for (int k : import->operands) {
      if (static_cast<size_t>(k) >= node.inputs.size()) continue;
      DType other = node.inputs[static_cast<size_t>(k)].type.dtype;
      if (first != DType::Undefined && other != DType::Undefined &&
          is_real(first) != is_real(other))
        return static_cast<size_t>(k);
    }
  }
  return std::nullopt;
} catch (const PolyOverflow&) {
  return std::nullopt;  // sizes beyond 64 bits
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
  OnnxNode node = neutral_node(index);
  bool standard = is_default_domain(proto.domain()) && functions_.count(proto.op_type()) == 0 &&
                  model_.opset >= kFirstOpset && model_.opset <= kLastOpset &&
                  imprint.captured.empty() && bodies(proto).empty();
  if (standard) {
    if (auto place = mixed_operand(node)) {
      return error(fmt::format("{}: input {} is {} where input 0 is {}", describe(proto, index),
                               *place, to_string(node.inputs[*place].type.dtype),
                               to_string(node.inputs[0].type.dtype)));
    }
    if (add_known_constant(index, node) || add_call(index, node)) return {};
  }
  return add_opaque(index, node);
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

/// Operands are of known, non-empty shapes; every other input is constant.
bool fits(const OnnxNode& node, const std::vector<int>& operands) {
  std::vector<char> is_operand(node.inputs.size(), 0);
  for (int k : operands) {
    if (k < 0 || static_cast<size_t>(k) >= node.inputs.size()) return false;
    const OnnxInput& in = node.inputs[static_cast<size_t>(k)];
    if (!in.present || !in.type.shape || is_empty(*in.type.shape)) return false;
    if (in.type.shape->size() > kMaxRank) return false;
    is_operand[static_cast<size_t>(k)] = 1;
  }
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    if (node.inputs[k].present && !is_operand[k] && !node.inputs[k].constant) return false;
  }
  return !operands.empty();
}

/// Is it left open whether two sizes are equal? Then the model may rely on broadcasting of a size
/// that is 1 at run time, which formulas do not express.
bool asks_equality(const Formula& f) {
  if (f.kind == Formula::Zero) return true;
  return std::any_of(f.parts.begin(), f.parts.end(), asks_equality);
}

bool Importer::try_call(size_t index, const OnnxNode& node, const OpDef& op) {
  auto import = op.from_onnx(node);
  if (!import || !fits(node, import->operands)) return false;
  if (output_count(op, import->attrs) != node.outputs) return false;
  std::vector<Value> operands;
  for (int k : import->operands) {
    operands.push_back(model_.imprints[index].inputs[static_cast<size_t>(k)]);
  }
  bool fits_plainly = true;
  auto on_require = [&](const Formula& f) {
    fits_plainly = fits_plainly && f.kind != Formula::False && !asks_equality(f);
  };
  std::vector<TensorType> operand_types;
  for (Value v : operands) operand_types.push_back(graph_.type(v));
  auto types = infer_call(graph_.pool(), op, operand_types, import->attrs, on_require);
  if (!types || !fits_plainly) return false;
  Node call;
  call.op = &op;
  call.attrs = std::move(import->attrs);
  call.inputs = std::move(operands);
  call.types = std::move(*types);
  call.origin = static_cast<int32_t>(index);
  call.names = output_names(index, call.types.size());
  size_t outputs = call.types.size();
  model_.imprints[index].operands = import->operands;
  define(index, graph_.add_node(std::move(call)), outputs);
  return true;
}

std::vector<std::string> Importer::output_names(size_t index, size_t count) const {
  const auto& outputs = model_.nodes[index]->output();
  return {outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(count)};
}

void Importer::define(size_t index, int32_t id, size_t outputs) {
  model_.ids[index] = id;
  for (size_t k = 0; k < outputs; ++k) {
    const std::string& name = model_.nodes[index]->output(static_cast<int>(k));
    if (!name.empty()) values_[name] = {id, static_cast<int32_t>(k)};
  }
}

/// Shapes by the registry's rules for a node whose elements are not real numbers.
std::vector<TensorType> Importer::registry_types(const OnnxNode& node) {
  for (const OpDef* op : ops_for_onnx(node.type)) {
    if (!is_readable(node, *op)) continue;
    auto import = op->from_onnx(node);
    if (!import || import->operands.empty()) continue;
    std::vector<TensorType> operands;
    for (int k : import->operands) {
      if (k < 0 || static_cast<size_t>(k) >= node.inputs.size()) break;
      const OnnxInput& in = node.inputs[static_cast<size_t>(k)];
      if (!in.type.shape || is_empty(*in.type.shape) || in.type.shape->size() > kMaxRank) break;
      operands.push_back({DType::F32, in.type.shape});
    }
    if (operands.size() != import->operands.size()) continue;
    auto types = infer_call(graph_.pool(), *op, operands, import->attrs);
    if (!types) continue;
    int typed_by = import->operands[static_cast<size_t>(op->type_operand)];
    for (TensorType& t : *types)
      if (t.dtype == DType::F32) t.dtype = node.inputs[static_cast<size_t>(typed_by)].type.dtype;
    return *types;
  }
  return {};
}

std::vector<TensorType> Importer::output_types(const OnnxNode& node, bool standard) {
  std::vector<TensorType> types(static_cast<size_t>(node.outputs));
  if (!standard) return types;
  try {
    std::vector<TensorType> known = registry_types(node),
                            tabled = foreign_types(node, graph_.pool());
    known.resize(types.size());
    for (size_t k = 0; k < types.size(); ++k) types[k] = merge(known[k], tabled[k]);
  } catch (const PolyOverflow&) {
    return std::vector<TensorType>(static_cast<size_t>(node.outputs));
  }
  return types;
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
  bool standard = is_default_domain(proto.domain()) && functions_.count(proto.op_type()) == 0 &&
                  model_.opset >= kFirstOpset && model_.opset <= kLastOpset;
  Node opaque;
  opaque.kind = NodeKind::Opaque;
  for (Value v : model_.imprints[index].inputs) opaque.inputs.push_back(v.node < 0 ? absent() : v);
  for (const auto& name : model_.imprints[index].captured)
    opaque.inputs.push_back(values_.at(name));
  opaque.types = output_types(node, standard);
  for (size_t k = 0; k < opaque.types.size(); ++k) {
    auto info = infos_.find(proto.output(static_cast<int>(k)));
    if (info != infos_.end()) {
      opaque.types[k] = merge(opaque.types[k], type_of(*info->second, graph_.pool()));
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
  define(index, graph_.add_node(std::move(opaque)), outputs);
  return {};
}

Status Importer::add_outputs() {
  std::vector<Value> outputs;
  for (const auto& v : model_.shell.graph().output()) {
    auto value = values_.find(v.name());
    if (value == values_.end())
      return error(fmt::format("nothing makes the graph output '{}'", v.name()));
    outputs.push_back(value->second);
  }
  graph_.set_outputs(std::move(outputs));
  return {};
}

}  // namespace

Result<Graph> import_graph(const std::shared_ptr<Model>& model) { return Importer(model).run(); }

}  // namespace regraft::io

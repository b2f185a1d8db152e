// Back to ONNX. Nodes that no rewrite touched are copied; the rest is written anew. Three steps:
// which nodes are needed and in what order, what every value is called, and the messages
// themselves.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "io/attributes.h"
#include "io/proto.h"
#include "io/shapes/size_writer.h"

namespace regraft::io {
namespace {

class Exporter {
 public:
  Exporter(const Imported& original, const Graph& optimised)
      : model_(*original.model),
        imported_(original.graph),
        g_(optimised),
        opset_(model_.opset.version, model_.opset.microsoft || original.microsoft),
        as_initialisers_(original.as_initialisers && model_.ir_version >= 4) {}
  Result<Draft> run();

 private:
  // Which nodes, in what order.
  void index_origins();
  /// A node that becomes an initialiser.
  bool is_hoisted(const Node& node) const {
    return as_initialisers_ && node.kind == NodeKind::Constant && model_.is_node(node.origin);
  }
  int32_t keep_leaf(int32_t imported);
  int32_t keep(int32_t origin);
  Value translate(Value imported);
  std::vector<Value> compute_inputs(int32_t id);
  const std::vector<Value>& inputs_of(int32_t id);
  void order_from(int32_t root);
  void order_all();
  // Names.
  bool is_fixed(Value v) const;
  std::string own_name(Value v) const;
  void name_fixed();
  Status name_required();
  void name_rest();
  std::string fresh(std::string_view stem);
  // Messages.
  Status write_node(int32_t id);
  Status write_call(int32_t id);
  void write_copy(int32_t id);
  void write_outputs(onnx::NodeProto& node, int32_t id, const std::vector<int>& results);
  void write_constant(const std::shared_ptr<const Constant>& data, const std::string& as);
  void write_identities(int32_t id);
  void write_sizes(int32_t id);
  SizeWriter size_writer();
  std::string constant_input(const std::shared_ptr<const Constant>& data);
  void write_initialisers();

  const onnx::NodeProto* source(int32_t id) const;
  const std::string& name(Value v) const { return names_.at(v); }
  onnx::GraphProto& graph() { return *draft_.proto.mutable_graph(); }
  onnx::NodeProto& add_node(std::string_view type, const std::string& name);

  struct Identity {
    Value from;
    std::string to;
  };
  struct NewConstant {
    std::shared_ptr<const Constant> data;
    std::string name;
  };
  const Model& model_;
  const Graph& imported_;
  Graph g_;
  Opset opset_;
  bool as_initialisers_;
  Draft draft_;
  std::vector<int32_t> kept_;  // graph node of each origin; -1: gone
  std::vector<char> copied_;   // of each id: leaves as it came in
  std::unordered_map<int32_t, std::vector<Value>> inputs_;
  std::unordered_map<int32_t, int32_t> leaves_;  // what shapes say, by imported id
  std::vector<int32_t> order_;
  std::unordered_set<int32_t> ordered_;
  std::unordered_set<std::string> reserved_, taken_;
  std::map<Value, std::string> names_;
  std::set<Value> read_;
  std::unordered_set<std::string> required_;
  std::vector<Identity> identities_;
  std::unordered_multimap<uint64_t, NewConstant> constants_;  // new constant inputs by content
  std::map<std::string, int, std::less<>> counters_;
  std::optional<SizeWriter> sizes_;
};

void Exporter::index_origins() {
  kept_.assign(model_.origins(), -1);
  copied_.assign(static_cast<size_t>(g_.id_bound()), 0);
  for (int32_t id = 0; id < g_.id_bound(); ++id) {
    if (!g_.contains(id) || !is_untouched(model_, imported_, g_.node(id)) ||
        has_shorter_form(model_, imported_, g_.node(id)))
      continue;
    int32_t& slot = kept_[static_cast<size_t>(g_.node(id).origin)];
    bool first = slot < 0;
    if (first) slot = id;
    bool whole = first || g_.node(id).kind == NodeKind::Opaque;
    copied_[static_cast<size_t>(id)] = whole && !is_hoisted(g_.node(id));
  }
}

/// The node of an origin that a copied node still reads; put back if a rewrite dropped it.
int32_t Exporter::keep(int32_t origin) {
  int32_t& slot = kept_[static_cast<size_t>(origin)];
  if (slot >= 0) return slot;
  slot = g_.add_node(imported_.node(model_.ids[static_cast<size_t>(origin)]));
  copied_.resize(static_cast<size_t>(g_.id_bound()), 0);
  copied_[static_cast<size_t>(slot)] = !is_hoisted(g_.node(slot));
  return slot;
}

Value Exporter::translate(Value imported) {
  if (imported.node < 0) return imported;
  const Node& node = imported_.node(imported.node);
  if (node.origin < 0) return {keep_leaf(imported.node), imported.output};
  return {keep(node.origin), imported.output};
}

/// What the import knew from shapes: a constant, or sizes.
int32_t Exporter::keep_leaf(int32_t imported) {
  auto [it, fresh] = leaves_.try_emplace(imported, imported);
  if (!fresh) return it->second;
  bool same = imported < g_.id_bound() && g_.node_ptr(imported) == imported_.node_ptr(imported);
  if (!same) it->second = g_.add_node(imported_.node(imported));
  copied_.resize(static_cast<size_t>(g_.id_bound()), 0);
  return it->second;
}

/// What a node reads: one value for each ONNX input (node < 0: omitted), then what its bodies
/// capture.
std::vector<Value> Exporter::compute_inputs(int32_t id) {
  const Node node = g_.node(id);  // a copy: translate may add nodes
  if (!copied_[static_cast<size_t>(id)] || !model_.is_node(node.origin)) return node.inputs;
  if (node.kind == NodeKind::Opaque) {
    std::vector<Value> inputs = node.inputs;
    for (Value& v : inputs) {
      if (g_.node(v.node).kind == NodeKind::Absent) v = Value{};
    }
    return inputs;
  }
  const Imprint& imprint = model_.imprints[static_cast<size_t>(node.origin)];
  std::vector<Value> inputs(imprint.inputs.size());
  std::vector<char> done(inputs.size(), 0);
  if (node.kind == NodeKind::Call) {
    for (size_t k = 0; k < imprint.operands.size(); ++k) {
      auto at = static_cast<size_t>(imprint.operands[k]);
      inputs[at] = node.inputs[k];
      done[at] = 1;
    }
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (!done[k]) inputs[k] = translate(imprint.inputs[k]);
  }
  return inputs;
}

const std::vector<Value>& Exporter::inputs_of(int32_t id) {
  auto known = inputs_.find(id);
  if (known == inputs_.end()) known = inputs_.emplace(id, compute_inputs(id)).first;
  return known->second;
}

/// Appends what `root` needs, operands first, then itself.
void Exporter::order_from(int32_t root) {
  if (!ordered_.insert(root).second) return;
  std::vector<std::pair<int32_t, size_t>> stack{{root, 0}};
  while (!stack.empty()) {
    int32_t id = stack.back().first;
    const auto& inputs = inputs_of(id);
    if (stack.back().second == inputs.size()) {
      order_.push_back(id);
      stack.pop_back();
      continue;
    }
    Value next = inputs[stack.back().second++];
    if (next.node >= 0 && ordered_.insert(next.node).second) stack.emplace_back(next.node, 0);
  }
}

/// Needed nodes, operands first; those of the file in the file's order as far as possible. What
/// nothing read in the file either is kept.
void Exporter::order_all() {
  for (Value v : g_.outputs()) order_from(v.node);
  for (size_t k = 0; k < model_.nodes.size(); ++k) {
    if (!model_.used[k] && kept_[k] >= 0) order_from(kept_[k]);
  }
  std::vector<int32_t> needed = order_;
  order_.clear();
  ordered_.clear();
  std::vector<int32_t> originals;
  for (int32_t id : needed) {
    if (copied_[static_cast<size_t>(id)] && model_.is_node(g_.node(id).origin))
      originals.push_back(id);
  }
  std::sort(originals.begin(), originals.end(), [&](int32_t a, int32_t b) {
    return std::pair(g_.node(a).origin, a) < std::pair(g_.node(b).origin, b);
  });
  for (int32_t id : originals) order_from(id);
  for (int32_t id : needed) order_from(id);
}

const onnx::NodeProto* Exporter::source(int32_t id) const {
  const Node& node = g_.node(id);
  bool copied = copied_[static_cast<size_t>(id)] && model_.is_node(node.origin);
  return copied ? model_.nodes[static_cast<size_t>(node.origin)].get() : nullptr;
}

/// Graph inputs and the tensors of the file cannot be renamed.
bool Exporter::is_fixed(Value v) const {
  const Node& node = g_.node(v.node);
  if (node.kind == NodeKind::Input) return true;
  return copied_[static_cast<size_t>(v.node)] && !model_.is_node(node.origin);
}

std::string Exporter::own_name(Value v) const {
  if (source(v.node) != nullptr)
    return output_name(model_, static_cast<size_t>(g_.node(v.node).origin), v.output);
  const auto& names = g_.node(v.node).names;
  return static_cast<size_t>(v.output) < names.size() ? names[static_cast<size_t>(v.output)] : "";
}

void Exporter::name_fixed() {
  auto fix = [&](Value v) { taken_.insert(names_[v] = own_name(v)); };
  for (Value v : g_.inputs()) fix(v);
  for (int32_t id : order_) {
    if (is_fixed({id, 0})) fix({id, 0});
  }
}

/// Graph outputs and what bodies read have names that must not change.
Status Exporter::name_required() {
  std::vector<std::pair<std::string, Value>> wanted;
  for (size_t k = 0; k < g_.outputs().size(); ++k) {
    wanted.emplace_back(model_.shell.graph().output(static_cast<int>(k)).name(), g_.outputs()[k]);
  }
  for (int32_t id : order_) {
    if (source(id) == nullptr || g_.node(id).kind != NodeKind::Opaque) continue;
    const Imprint& imprint = model_.imprints[static_cast<size_t>(g_.node(id).origin)];
    for (size_t k = 0; k < imprint.captured.size(); ++k) {
      wanted.emplace_back(imprint.captured[k], inputs_of(id)[imprint.inputs.size() + k]);
    }
  }
  std::map<std::string, Value> meaning;
  for (const auto& [required, value] : wanted) {
    required_.insert(required);
    if (meaning.emplace(required, value).first->second != value) {
      return error(fmt::format("two values must be named '{}'", required));
    }
  }
  for (const auto& [required, value] : wanted) {
    if (!names_.count(value) && own_name(value) == required) {
      names_[value] = required;
      taken_.insert(required);
    }
  }
  for (const auto& [required, value] : wanted) {
    if (names_.count(value) && name(value) == required) continue;
    bool first = taken_.insert(required).second;
    bool repeated = std::any_of(identities_.begin(), identities_.end(),
                                [&, &n = required](const Identity& i) { return i.to == n; });
    if (repeated) continue;
    if (!first) return error(fmt::format("the name '{}' is needed twice", required));
    if (!names_.count(value))
      names_[value] = required;
    else
      identities_.push_back({value, required});
  }
  return {};
}

void Exporter::name_rest() {
  for (Value v : g_.outputs()) read_.insert(v);
  for (int32_t id : order_) {
    for (Value v : inputs_of(id)) read_.insert(v);
  }
  // First what keeps the name it had, so that no new value takes it.
  for (int pass = 0; pass < 2; ++pass) {
    for (int32_t id : order_) {
      const Node& node = g_.node(id);
      bool copied = source(id) != nullptr;
      if (copied != (pass == 0)) continue;
      std::string_view stem = node.kind == NodeKind::Call ? node.op->name : "value";
      for (int32_t k = 0; k < static_cast<int32_t>(node.types.size()); ++k) {
        Value v{id, k};
        if (names_.count(v)) continue;
        std::string own = own_name(v);
        bool omitted = copied && own.empty() && read_.count(v) == 0;
        bool free = !own.empty() && taken_.insert(own).second;
        names_[v] = omitted || free ? own : fresh(stem);
      }
    }
  }
}

std::string Exporter::fresh(std::string_view stem) {
  int& n = counters_[std::string(stem)];
  const Enclosing* around = model_.enclosing.get();
  for (;;) {
    std::string name = fmt::format("{}_{}_{}", around ? around->prefix : "regraft", stem, n++);
    if (around && model_.names->count(name) > 0) continue;
    if (reserved_.count(name) == 0 && taken_.insert(name).second) return name;
  }
}

onnx::NodeProto& Exporter::add_node(std::string_view type, const std::string& node_name) {
  onnx::NodeProto& node = *graph().add_node();
  size_t colon = type.find(':');
  if (colon != std::string_view::npos) {
    node.set_domain(std::string(type.substr(0, colon)));
    import_domain(draft_.proto, node.domain());
  }
  node.set_op_type(std::string(colon == std::string_view::npos ? type : type.substr(colon + 1)));
  node.set_name(node_name);
  return node;
}

void Exporter::write_copy(int32_t id) {
  onnx::NodeProto& node = *graph().add_node();
  node = *source(id);
  const auto& inputs = inputs_of(id);
  for (int k = 0; k < node.input_size(); ++k) {
    Value v = inputs[static_cast<size_t>(k)];
    const std::string& now = v.node < 0 ? std::string() : name(v);
    if (node.input(k) != now) node.set_input(k, now);
  }
  for (int k = 0; k < static_cast<int>(g_.node(id).types.size()); ++k)
    set_output(node, output_of(model_, static_cast<size_t>(g_.node(id).origin), k), name({id, k}));
}

/// Results at other places than their own; those that nothing reads are left out at the end.
void Exporter::write_outputs(onnx::NodeProto& node, int32_t id, const std::vector<int>& results) {
  for (int32_t k = 0; k < static_cast<int32_t>(g_.node(id).types.size()); ++k)
    if (results.empty() || k == 0 || read_.count({id, k}) > 0)
      set_output(node, results.empty() ? k : results[static_cast<size_t>(k)], name({id, k}));
}

/// The initialiser that holds a constant which an operator wants as an input.
std::string Exporter::constant_input(const std::shared_ptr<const Constant>& data) {
  for (auto [it, end] = constants_.equal_range(data->hash().low); it != end; ++it)
    if (same(*it->second.data, *data)) return it->second.name;
  std::string as = fresh("constant");
  constants_.emplace(data->hash().low, NewConstant{data, as});
  write_constant(data, as);
  return as;
}

Status Exporter::write_call(int32_t id) {
  const Node& call = g_.node(id);
  std::vector<TensorType> operands;
  for (Value v : call.inputs) operands.push_back(g_.type(v));
  auto form = call.op->to_onnx(call.attrs, operands, opset_);
  if (!form) return error(fmt::format("cannot write {}: {}", call.op->name, form.error().message));
  std::vector<std::string> inputs;
  for (const auto& in : form->inputs) {
    inputs.emplace_back();
    if (in.operand) {
      inputs.back() = name(call.inputs[static_cast<size_t>(*in.operand)]);
    } else if (in.constant) {
      inputs.back() = constant_input(in.constant);
    } else if (!in.sizes.empty()) {
      inputs.back() = sizes_->write(in.sizes);
    }
  }
  while (!inputs.empty() && inputs.back().empty()) inputs.pop_back();
  onnx::NodeProto& node = add_node(form->type, fresh(call.op->name));
  for (const auto& in : inputs) node.add_input(in);
  for (const auto& [key, value] : form->attrs) *node.add_attribute() = attribute_proto(key, value);
  write_outputs(node, id, form->results);
  return {};
}

void Exporter::write_constant(const std::shared_ptr<const Constant>& data, const std::string& as) {
  if (model_.ir_version >= 4) {
    draft_.make_initialiser(data)->set_name(as);
    return;
  }
  // Before IR version 4 an initialiser had to be a graph input too.
  onnx::NodeProto& node = add_node("Constant", fresh("constant"));
  node.add_output(as);
  onnx::AttributeProto& value = *node.add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto::TENSOR);
  draft_.fill(*value.mutable_t(), data);
}

void Exporter::write_identities(int32_t id) {
  for (const Identity& i : identities_) {
    if (i.from.node != id) continue;
    onnx::NodeProto& node = add_node("Identity", fresh("identity"));
    node.add_input(name(i.from));
    node.add_output(i.to);
  }
}

SizeWriter Exporter::size_writer() {
  auto add = [this](const SizeWriter::Node& n) {
    std::string made = fresh("size");
    onnx::NodeProto& node = add_node(n.type, made);
    for (const auto& in : n.inputs) node.add_input(in);
    for (const auto& [key, value] : n.attrs) *node.add_attribute() = attribute_proto(key, value);
    node.add_output(made);
    return made;
  };
  auto constant = [this](const auto& data) { return constant_input(data); };
  auto input = [this](size_t k) { return name(g_.inputs()[k]); };
  return SizeWriter(g_, model_.opset, {add, constant, input});
}

/// All that read it read what computes it; a name that must not change gets its own node.
void Exporter::write_sizes(int32_t id) {
  std::string& as = names_.at({id, 0});
  std::string made = sizes_->write(*g_.node(id).sizes);
  if (required_.count(as) == 0) {
    as = made;
    return;
  }
  onnx::NodeProto& node = add_node("Identity", fresh("identity"));
  node.add_input(made);
  node.add_output(as);
}

Status Exporter::write_node(int32_t id) {
  const Node& node = g_.node(id);
  if (node.sizes)
    write_sizes(id);
  else if (source(id) != nullptr)
    write_copy(id);
  else if (node.kind == NodeKind::Opaque && !is_fixed({id, 0}))
    return error("a foreign node is not of this model");
  else if (node.kind == NodeKind::Call)
    RETURN_IF_ERROR(write_call(id));
  else if (node.kind == NodeKind::Constant && !is_fixed({id, 0}))
    write_constant(node.constant, name({id, 0}));
  write_identities(id);
  return {};
}

/// Tensors of the file that are still read, were never read, or are defaults of inputs.
void Exporter::write_initialisers() {
  std::unordered_set<std::string_view> dropped;
  bool training = model_.shell.training_info_size() > 0;  // its graphs may read any of them
  for (size_t k = 0; k < model_.initialisers.size(); ++k) {
    size_t origin = model_.nodes.size() + k;
    bool is_default = model_.ids[origin] < 0;
    bool read = kept_[origin] >= 0 && ordered_.count(kept_[origin]) > 0;
    if (read || is_default || !model_.used[origin] || training)
      draft_.borrow_initialiser(*model_.initialisers[k]);
    else
      dropped.insert(model_.initialisers[k]->name());
  }
  if (model_.ir_version >= 4 || dropped.empty()) return;
  auto* inputs = graph().mutable_input();  // there, an input only declares its initialiser
  auto stale = [&](const onnx::ValueInfoProto& v) { return dropped.count(v.name()) > 0; };
  inputs->erase(std::remove_if(inputs->begin(), inputs->end(), stale), inputs->end());
}

Result<Draft> Exporter::run() {
  if (g_.outputs().size() != imported_.outputs().size() ||
      g_.inputs().size() != imported_.inputs().size()) {
    return error("the graph does not have the inputs and outputs of its model");
  }
  if (auto acyclic = topological_order(g_); !acyclic) return acyclic.error();
  index_origins();
  order_all();
  reserved_ = names_of(model_);
  name_fixed();
  RETURN_IF_ERROR(name_required());
  name_rest();
  draft_.proto = model_.shell;
  write_initialisers();
  for (Value v : g_.inputs())
    if (ordered_.count(v.node) == 0) write_identities(v.node);
  sizes_.emplace(size_writer());
  for (int32_t id : order_) RETURN_IF_ERROR(write_node(id));
  drop_stale(graph(), model_);
  check_order(draft_.proto.graph());
  return std::move(draft_);
}

}  // namespace

Result<Draft> export_graph(const Imported& original, const Graph& optimised) {
  return Exporter(original, optimised).run();
}

}  // namespace regraft::io

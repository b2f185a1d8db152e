// Calls of local functions become what the functions consist of.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "io/inline/library.h"

namespace regraft::io {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
using Scope = std::unordered_map<std::string, std::string>;  // what a function's names are called
using Values = std::map<std::string, onnx::AttributeProto>;

bool has_graph(const onnx::AttributeProto& a) { return a.has_g() || a.graphs_size() > 0; }

/// One call of a function, inlined. Names that are made in it are new to the model.
class Instance {
 public:
  Instance(const onnx::NodeProto& call, const Function& function,
           std::unordered_set<std::string>& taken, int64_t most_bytes)
      : call_(call), function_(function), taken_(taken), bytes_left_(most_bytes) {}

  /// Nothing: the call does not fit the function, or makes too many bytes.
  std::optional<Nodes> run() {
    const onnx::FunctionProto& f = *function_.proto;
    bool fits = call_.input_size() <= f.input_size() && call_.output_size() <= f.output_size();
    if (!fits || !bind_attributes()) return std::nullopt;
    bind_values();
    Nodes nodes;
    for (const auto& node : f.node()) {
      *nodes.Add() = node;
      if (!rename(*nodes.rbegin(), scope_)) return std::nullopt;
    }
    if (!hand_on(nodes)) return std::nullopt;
    return nodes;
  }

 private:
  bool bind_attributes() {
    values_ = function_.defaults;
    for (const auto& a : call_.attribute()) {
      bool known = function_.attributes.count(a.name()) > 0 && a.ref_attr_name().empty();
      if (!known || has_graph(a)) return false;
      values_[a.name()] = a;
    }
    return std::ranges::none_of(values_, [](auto& v) { return has_graph(v.second); });
  }

  void bind_values() {
    const onnx::FunctionProto& f = *function_.proto;
    for (int k = 0; k < f.input_size(); ++k)
      scope_[f.input(k)] = k < call_.input_size() ? call_.input(k) : std::string();
    std::unordered_set<std::string> inputs(f.input().begin(), f.input().end());
    for (int k = 0; k < call_.output_size(); ++k)
      if (!call_.output(k).empty() && inputs.count(f.output(k)) == 0)
        scope_.emplace(f.output(k), call_.output(k));
    for (const auto& node : f.node())
      for (const auto& name : node.output())
        if (!name.empty() && scope_.count(name) == 0) scope_[name] = fresh(name);
  }

  /// An output that is an input, or another output too, gets a node of its own.
  bool hand_on(Nodes& nodes) {
    for (int k = 0; k < call_.output_size(); ++k) {
      const std::string& from = scope_.at(function_.proto->output(k));
      if (call_.output(k).empty() || from == call_.output(k)) continue;
      if (from.empty()) return false;
      onnx::NodeProto& node = *nodes.Add();
      node.set_op_type("Identity");
      node.set_name(fresh("identity"));
      node.add_input(from);
      node.add_output(call_.output(k));
    }
    return true;
  }

  std::string fresh(const std::string& name) {
    std::string stem = (call_.name().empty() ? function_.proto->name() : call_.name()) + "/" + name;
    std::string made = stem;
    for (int& n = counters_[stem]; !taken_.insert(made).second;)
      made = stem + "_" + std::to_string(++n);
    return made;
  }

  static bool replace(std::string& name, const Scope& scope) {
    if (name.empty()) return true;
    auto found = scope.find(name);
    if (found == scope.end()) return false;
    name = found->second;
    return true;
  }

  bool rename(onnx::NodeProto& node, const Scope& scope) {
    if (!node.name().empty()) node.set_name(fresh(node.name()));
    for (auto& name : *node.mutable_input())
      if (!replace(name, scope)) return false;
    for (auto& name : *node.mutable_output())
      if (!replace(name, scope)) return false;
    for (int k = node.attribute_size() - 1; k >= 0; --k) {
      auto& a = *node.mutable_attribute(k);
      if (!a.ref_attr_name().empty() && values_.count(a.ref_attr_name()) == 0) {
        if (function_.attributes.count(a.ref_attr_name()) == 0) return false;
        node.mutable_attribute()->DeleteSubrange(k, 1);  // not given: the operator's own default
      } else if (!resolve(a) || !rename_bodies(a, scope)) {
        return false;
      }
    }
    return true;
  }

  /// The value that the call gives, in the place of a reference to it.
  bool resolve(onnx::AttributeProto& a) {
    if (a.ref_attr_name().empty()) return true;
    const onnx::AttributeProto& given = values_.at(a.ref_attr_name());
    if (a.type() != 0 && given.type() != 0 && a.type() != given.type()) return false;
    bytes_left_ -= static_cast<int64_t>(given.ByteSizeLong());
    if (bytes_left_ < 0) return false;
    std::string name = a.name();
    a = given;
    a.set_name(std::move(name));
    return true;
  }

  bool rename_bodies(onnx::AttributeProto& a, const Scope& scope) {
    if (a.has_g() && !rename(*a.mutable_g(), scope)) return false;
    for (auto& g : *a.mutable_graphs())
      if (!rename(g, scope)) return false;
    return true;
  }

  bool rename(onnx::GraphProto& body, Scope scope) {
    auto define = [&](std::string& name) {
      if (!name.empty()) scope[name] = fresh(name);
    };
    for (auto& v : *body.mutable_input()) define(*v.mutable_name());
    for (auto& t : *body.mutable_initializer())
      if (!is_input(body, t.name())) define(*t.mutable_name());
    for (auto& t : *body.mutable_sparse_initializer()) define(*t.mutable_values()->mutable_name());
    for (auto& node : *body.mutable_node())
      for (auto& name : *node.mutable_output()) define(name);
    for (auto& v : *body.mutable_input()) replace(*v.mutable_name(), scope);
    for (auto& t : *body.mutable_initializer()) replace(*t.mutable_name(), scope);
    for (auto& t : *body.mutable_sparse_initializer())
      replace(*t.mutable_values()->mutable_name(), scope);
    for (auto& node : *body.mutable_node())
      if (!rename(node, scope)) return false;
    for (auto& v : *body.mutable_output())
      if (!replace(*v.mutable_name(), scope) || v.name().empty()) return false;
    body.clear_quantization_annotation();
    auto* infos = body.mutable_value_info();
    auto unknown = [&](auto& v) { return !replace(*v.mutable_name(), scope); };
    infos->erase(std::remove_if(infos->begin(), infos->end(), unknown), infos->end());
    return true;
  }
  static bool is_input(const onnx::GraphProto& body, const std::string& name) {
    return std::any_of(body.input().begin(), body.input().end(),
                       [&](auto& v) { return v.name() == name; });
  }

  const onnx::NodeProto& call_;
  const Function& function_;
  std::unordered_set<std::string>& taken_;
  int64_t bytes_left_;
  Scope scope_;
  Values values_;
  std::unordered_map<std::string, int> counters_;
};

class Inliner {
 public:
  explicit Inliner(Model& model) : model_(model), library_(model.shell) {}

  void run() {
    auto& graph = *model_.shell.mutable_graph();
    for (const auto& t : model_.initialisers) taken_.insert(t->name());
    note_names(graph);
    expand(*graph.mutable_node(), 0);
    drop_uncalled();
    for (const auto& [domain, version] : domains_) import(domain, version);
  }

 private:
  void note_names(const onnx::GraphProto& graph) {
    for (const auto& v : graph.input()) taken_.insert(v.name());
    for (const auto& v : graph.output()) taken_.insert(v.name());
    for (const auto& t : graph.initializer()) taken_.insert(t.name());
    for (const auto& t : graph.sparse_initializer()) taken_.insert(t.values().name());
    for (const auto& node : graph.node()) {
      taken_.insert(node.name());
      taken_.insert(node.output().begin(), node.output().end());
      for (const auto* body : bodies(node)) note_names(*body);
    }
  }

  const Function* inlinable(const onnx::NodeProto& node, int depth) const {
    const Function* f = library_.callee(node);
    bool fits =
        f && f->inlinable && depth + f->nesting <= kDeepestBody && made_ + f->size <= kMostInlined;
    return fits ? f : nullptr;
  }

  /// Inlines the calls among the nodes, which lie `depth` bodies deep, and in their bodies.
  void expand(Nodes& nodes, int depth) {
    Nodes result;
    for (auto& node : nodes) {
      const Function* f = inlinable(node, depth);
      std::optional<Nodes> instance;
      if (f) instance = Instance(node, *f, taken_, kMostInlinedBytes - bytes_).run();
      if (instance) {
        made_ += instance->size();
        for (const auto& made : *instance) bytes_ += static_cast<int64_t>(made.ByteSizeLong());
        domains_.insert(f->domains.begin(), f->domains.end());
        expand(*instance, depth);
        for (auto& made : *instance) *result.Add() = std::move(made);
      } else {
        for (auto& a : *node.mutable_attribute()) {
          if (a.has_g()) expand(*a.mutable_g()->mutable_node(), depth + 1);
          for (auto& g : *a.mutable_graphs()) expand(*g.mutable_node(), depth + 1);
        }
        *result.Add() = std::move(node);
      }
    }
    nodes.Swap(&result);
  }

  void drop_uncalled() {
    auto called = library_.reached(model_.shell.graph().node());
    for (const auto& t : model_.shell.training_info())
      for (const auto* graph : {&t.initialization(), &t.algorithm()})
        called.merge(library_.reached(graph->node()));
    onnx::ModelProto kept;
    for (auto& f : *model_.shell.mutable_functions())
      if (called.count(&f) > 0) *kept.add_functions() = std::move(f);
    model_.shell.mutable_functions()->Swap(kept.mutable_functions());
  }

  void import(const std::string& domain, int64_t version) {
    for (const auto& known : model_.shell.opset_import())
      if (plain_domain(known.domain()) == domain) return;
    auto& added = *model_.shell.add_opset_import();
    added.set_domain(domain);
    added.set_version(version);
  }

  Model& model_;
  Library library_;
  std::unordered_set<std::string> taken_;
  std::map<std::string, int64_t> domains_;
  int64_t made_ = 0, bytes_ = 0;
};

}  // namespace

void inline_functions(Model& model) {
  if (model.shell.functions_size() > 0) Inliner(model).run();
}

}  // namespace regraft::io

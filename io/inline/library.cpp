#include "io/inline/library.h"

#include <algorithm>

#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

namespace regraft::io {
namespace {

namespace pb = google::protobuf;
using Nodes = pb::RepeatedPtrField<onnx::NodeProto>;

// Fields that ONNX has from version 1.13 on; the messages of an older one keep them as unknown.
constexpr int kNodeOverload = 8, kFunctionOverload = 13, kFunctionDefaults = 11;

/// The texts of a field, or its messages as bytes.
std::vector<std::string> field(const pb::Message& m, int number) {
  std::vector<std::string> found;
  if (const auto* known = m.GetDescriptor()->FindFieldByNumber(number)) {
    const auto& reflection = *m.GetReflection();
    if (!known->is_repeated()) return {reflection.GetString(m, known)};
    for (int k = 0; k < reflection.FieldSize(m, known); ++k)
      found.push_back(reflection.GetRepeatedMessage(m, known, k).SerializeAsString());
    return found;
  }
  const pb::UnknownFieldSet& rest = m.GetReflection()->GetUnknownFields(m);
  for (int k = 0; k < rest.field_count(); ++k) {
    const pb::UnknownField& f = rest.field(k);
    if (f.number() == number && f.type() == pb::UnknownField::TYPE_LENGTH_DELIMITED)
      found.push_back(f.length_delimited());
  }
  return found;
}

std::string text(const pb::Message& m, int number) {
  auto all = field(m, number);
  return all.empty() ? std::string() : all.back();
}

/// Calls `visit(node, depth)` for each node, those of bodies included.
template <class Visit>
void for_each_node(const Nodes& nodes, int depth, const Visit& visit) {
  for (const auto& node : nodes) {
    visit(node, depth);
    for (const auto* body : bodies(node)) for_each_node(body->node(), depth + 1, visit);
  }
}

/// Formal names are different, and each name is made once and not outside of the function.
bool is_well_formed(const onnx::FunctionProto& f) {
  std::set<std::string> made(f.input().begin(), f.input().end());
  if (made.size() != static_cast<size_t>(f.input_size()) || made.count("") > 0) return false;
  for (const auto& node : f.node())
    for (const auto& name : node.output())
      if (!name.empty() && !made.insert(name).second) return false;
  auto is_made = [&](const std::string& name) { return name.empty() || made.count(name) > 0; };
  for (const auto& node : f.node()) {
    auto captured = captured_names(node);
    if (!std::all_of(node.input().begin(), node.input().end(), is_made) ||
        !std::ranges::all_of(captured, is_made))
      return false;
  }
  return std::all_of(f.output().begin(), f.output().end(),
                     [&](auto& name) { return !name.empty() && is_made(name); });
}

std::map<std::string, int64_t> versions(const pb::RepeatedPtrField<onnx::OperatorSetIdProto>& all) {
  std::map<std::string, int64_t> found;
  for (const auto& import : all) found.emplace(plain_domain(import.domain()), import.version());
  return found;
}

}  // namespace

std::string plain_domain(const std::string& domain) {
  return is_default_domain(domain) ? std::string() : domain;
}

Library::Library(const onnx::ModelProto& model) {
  for (const auto& proto : model.functions()) {
    Function f;
    f.proto = &proto;
    f.attributes.insert(proto.attribute().begin(), proto.attribute().end());
    for (const std::string& bytes : field(proto, kFunctionDefaults)) {
      onnx::AttributeProto value;
      if (!value.ParseFromString(bytes)) continue;
      f.attributes.insert(value.name());
      f.defaults[value.name()] = std::move(value);
    }
    Key key{plain_domain(proto.domain()), proto.name(), text(proto, kFunctionOverload)};
    functions_.emplace(std::move(key), std::move(f));
  }
  auto outside = versions(model.opset_import());
  for (auto& [key, f] : functions_)
    f.inlinable = is_well_formed(*f.proto) && note_domains(f, outside);
  measure_all();
}

/// Do its nodes mean the same in the model?
bool Library::note_domains(Function& f, const std::map<std::string, int64_t>& outside) const {
  auto inside = versions(f.proto->opset_import());
  bool same = true;
  for_each_node(f.proto->node(), 0, [&](const onnx::NodeProto& node, int) {
    std::string domain = plain_domain(node.domain());
    auto wanted = inside.find(domain);
    auto given = outside.find(domain);
    if (wanted == inside.end()) {
      same = same && callee(node) != nullptr;
    } else {
      f.domains.insert(*wanted);
      same = same && (given == outside.end() ? !domain.empty() : given->second == wanted->second);
    }
  });
  return same;
}

/// Callees before their callers; what is left over calls itself, or one that does.
void Library::measure_all() {
  std::map<const Function*, std::vector<Function*>> callers;
  std::map<const Function*, size_t> open;
  std::vector<Function*> ready;
  for (auto& [key, f] : functions_) {
    std::set<const Function*> called;
    for_each_node(f.proto->node(), 0, [&](const onnx::NodeProto& node, int) {
      if (const Function* c = callee(node)) called.insert(c);
    });
    for (const Function* c : called) callers[c].push_back(&f);
    open[&f] = called.size();
    if (called.empty()) ready.push_back(&f);
  }
  while (!ready.empty()) {
    Function* f = ready.back();
    ready.pop_back();
    measure(*f);
    for (Function* c : callers[f])
      if (--open[c] == 0) ready.push_back(c);
  }
  for (auto& [key, f] : functions_) f.inlinable = f.inlinable && open[&f] == 0;
}

/// REQUIRES: the functions that it calls have been measured.
void Library::measure(Function& f) {
  for (const auto& node : f.proto->node()) f.bytes += static_cast<int64_t>(node.ByteSizeLong());
  for_each_node(f.proto->node(), 0, [&](const onnx::NodeProto& node, int level) {
    const Function* c = callee(node);
    f.size = std::min(kMostInlined + 1, f.size + 1 + (c ? c->size : 0));
    f.bytes = std::min(kMostInlinedBytes + 1, f.bytes + (c ? c->bytes : 0));
    f.nesting = std::min(kDeepestBody + 1, std::max(f.nesting, level + (c ? c->nesting : 0)));
    f.depth = std::min(kDeepestCall + 1, std::max(f.depth, c ? 1 + c->depth : 0));
  });
  f.inlinable = f.inlinable && f.size <= kMostInlined && f.bytes <= kMostInlinedBytes &&
                f.nesting <= kDeepestBody && f.depth <= kDeepestCall;
}

const Function* Library::callee(const onnx::NodeProto& node) const {
  auto found =
      functions_.find({plain_domain(node.domain()), node.op_type(), text(node, kNodeOverload)});
  return found == functions_.end() ? nullptr : &found->second;
}

std::set<const onnx::FunctionProto*> Library::reached(const Nodes& nodes) const {
  std::set<const onnx::FunctionProto*> found;
  std::vector<const Nodes*> open{&nodes};
  while (!open.empty()) {
    const Nodes& next = *open.back();
    open.pop_back();
    for_each_node(next, 0, [&](const onnx::NodeProto& node, int) {
      const Function* f = callee(node);
      if (f && found.insert(f->proto).second) open.push_back(&f->proto->node());
    });
  }
  return found;
}

}  // namespace regraft::io

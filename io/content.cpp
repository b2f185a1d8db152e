#include "io/content.h"

#include <algorithm>
#include <array>

#include "io/opaque_form.h"
#include "io/tensors.h"
#include "ir/graph/content.h"

namespace regraft::io {
namespace {

constexpr std::array<std::string_view, 7> kRandom = {
    "Bernoulli",        "Dropout",       "Multinomial",      "RandomNormal",
    "RandomNormalLike", "RandomUniform", "RandomUniformLike"};

bool is_random(const onnx::NodeProto& node) {
  if (node.op_type() == "Dropout" && node.input_size() < 3) return false;  // not training
  return std::find(kRandom.begin(), kRandom.end(), node.op_type()) != kRandom.end();
}

/// The same of what its bodies consist of.
bool has_random(const onnx::NodeProto& node) {
  auto of_node = [](const onnx::NodeProto& inner) { return has_random(inner); };
  return is_random(node) || std::ranges::any_of(bodies(node), [&](const onnx::GraphProto* body) {
           return std::ranges::any_of(body->node(), of_node);
         });
}

/// Any tensor's data: what it means where that is known.
std::shared_ptr<const Constant> data_of(const onnx::TensorProto& t,
                                        const std::shared_ptr<const Model>& owner) {
  auto known = constant_of(t, owner);
  return known ? known : carried_data(t, owner);
}

/// Puts digests in the place of data: the message then says what the tensors hold, not where.
TensorVisitor digesting(const std::shared_ptr<const Model>& owner) {
  return [owner](onnx::TensorProto& t, const std::string& where) -> Status {
    auto digest = digest_of(*data_of(t, owner));
    if (!digest) return error(where + " " + digest.error().message);
    std::string name = t.name();
    t.Clear();
    t.set_name(std::move(name));
    t.set_raw_data(digest->bytes.data(), digest->bytes.size());
    return {};
  };
}

Sha256& add(Sha256& into, const google::protobuf::MessageLite& message) {
  return into.text(message.SerializeAsString());
}

}  // namespace

std::shared_ptr<const Constant> carried_data(const onnx::TensorProto& t,
                                             const std::shared_ptr<const Model>& owner) {
  // The bytes of a part of a tensor are not those that its dimensions and type need: its type is
  // part of what is carried.
  const bool partial = t.has_segment();
  auto type = partial ? DType::Undefined : static_cast<DType>(t.data_type());
  std::vector<int64_t> dims(t.dims().begin(), t.dims().end());
  auto read = [owner, &t, partial](const Constant::Visit& visit) -> Status {
    auto number = [&](int64_t n) { visit(std::as_bytes(std::span(&n, 1))); };
    if (partial) number(t.data_type()), number(t.segment().begin()), number(t.segment().end());
    if (is_external(t)) {
      ASSIGN_OR_RETURN(Place place, locate(t, owner->folder));
      return read_place(place, visit);
    }
    for (const std::string& text : t.string_data()) {
      number(static_cast<int64_t>(text.size()));
      visit(std::as_bytes(std::span(text)));
    }
    if (t.raw_data().empty())
      visit(inline_bytes(t));
    else
      visit(std::as_bytes(std::span(t.raw_data())));
    return {};
  };
  return std::make_shared<Constant>(type, std::move(dims), read);
}

std::vector<char> random_nodes(const Imported& imported) {
  const Model& model = *imported.model;
  std::vector<char> random(static_cast<size_t>(imported.graph.id_bound()), 0);
  bool in_functions = std::ranges::any_of(model.shell.functions(), [](const auto& function) {
    return std::ranges::any_of(function.node(), has_random);
  });
  Contents contents(imported.model);
  for (int32_t id = 0; id < imported.graph.id_bound(); ++id) {
    if (!imported.graph.contains(id)) continue;
    int32_t origin = imported.graph.node(id).origin;
    if (origin < 0 || !model.is_node(origin)) continue;
    const onnx::NodeProto& node = *model.nodes[static_cast<size_t>(origin)];
    bool draws = has_random(node) || (in_functions && contents.calls_function(node));
    random[static_cast<size_t>(id)] = draws;
  }
  return random;
}

Contents::Contents(std::shared_ptr<const Model> model) : model_(std::move(model)) {}

bool Contents::calls_function(const onnx::NodeProto& node) const {
  const auto& all = model_->shell.functions();
  return std::any_of(all.begin(), all.end(), [&](const onnx::FunctionProto& f) {
    bool same_domain = f.domain() == node.domain() ||
                       (is_default_domain(f.domain()) && is_default_domain(node.domain()));
    return same_domain && f.name() == node.op_type();
  });
}

/// The local functions and the versions of the operator sets.
Result<Digest> Contents::surroundings() {
  if (surroundings_) return *surroundings_;
  Sha256 sha;
  for (const auto& import : model_->shell.opset_import())
    sha.text(import.domain()).number(static_cast<uint64_t>(import.version()));
  for (const onnx::FunctionProto& function : model_->shell.functions()) {
    onnx::FunctionProto plain = function;
    for (auto& node : *plain.mutable_node())
      RETURN_IF_ERROR(visit_tensors(node, "a function", digesting(model_)));
    add(sha, plain);
  }
  surroundings_ = sha.finish();
  return *surroundings_;
}

Result<Contents::Content> Contents::of(const onnx::NodeProto& node) {
  bool known = is_default_domain(node.domain()) || node.domain() == "ai.onnx.ml";
  bool pure = known && !is_random(node) && !calls_function(node) && bodies(node).empty();
  onnx::NodeProto plain = node;
  for (auto* name : {plain.mutable_name(), plain.mutable_doc_string()}) name->clear();
  for (auto& name : *plain.mutable_input()) name = name.empty() ? "" : "x";
  for (auto& name : *plain.mutable_output()) name = name.empty() ? "" : "y";
  for (auto& a : *plain.mutable_attribute()) a.clear_doc_string();
  clear_metadata(plain);
  if (pure) clear_optional_outputs(plain), plain.clear_input();  // operands say which there are
  add_defaults(plain, model_->opset);
  std::sort(plain.mutable_attribute()->pointer_begin(), plain.mutable_attribute()->pointer_end(),
            [](const auto* a, const auto* b) { return a->name() < b->name(); });
  RETURN_IF_ERROR(visit_tensors(plain, "a tensor", digesting(model_)));
  Sha256 sha;
  int64_t version = pure ? meaning_version(node, model_->opset) : int64_t{model_->opset};
  add(sha.text("node").number(static_cast<uint64_t>(version)), plain);
  if (!pure) {
    ASSIGN_OR_RETURN(Digest around, surroundings());
    sha.digest(around);
  }
  return Content{sha.finish(), pure};
}

Result<Digest> Contents::of(const onnx::SparseTensorProto& t) const {
  Sha256 sha;
  sha.text("sparse").number(static_cast<uint64_t>(t.dims_size()));
  for (int64_t d : t.dims()) sha.number(static_cast<uint64_t>(d));
  for (const onnx::TensorProto* part : {&t.values(), &t.indices()}) {
    ASSIGN_OR_RETURN(Digest digest, digest_of(*data_of(*part, model_)));
    sha.digest(digest);
  }
  return sha.finish();
}

}  // namespace regraft::io

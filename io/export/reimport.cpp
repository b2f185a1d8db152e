// What writing a graph and reading it back gives, without a file and without copies of the data.
#include "io/defaults.h"
#include "io/proto.h"
#include "io/tensors.h"
#include "ir/graph/content.h"

namespace regraft::io {
namespace {

/// A tensor that says what it is and leaves its data to the model.
std::unique_ptr<onnx::TensorProto> without_data(const onnx::TensorProto& t) {
  auto stub = std::make_unique<onnx::TensorProto>();
  stub->set_name(t.name());
  stub->set_data_type(t.data_type());
  *stub->mutable_dims() = t.dims();
  return stub;
}

/// The constants of a model by their tensors.
std::unordered_map<const onnx::TensorProto*, std::shared_ptr<const Constant>> constants_of(
    const Imported& imported) {
  const Model& model = *imported.model;
  auto known = model.held;
  for (size_t k = 0; k < model.initialisers.size(); ++k) {
    int32_t id = model.ids[model.nodes.size() + k];
    if (id < 0 || imported.graph.node(id).kind != NodeKind::Constant) continue;
    known[model.initialisers[k].get()] = imported.graph.node(id).constant;
  }
  return known;
}

}  // namespace

Result<Imported> reimport(const Imported& original, const Graph& optimised) {
  ASSIGN_OR_RETURN(Draft draft, export_graph(original, optimised));
  auto known = constants_of(original);
  auto model = std::make_shared<Model>();
  model->name = original.model->name;
  model->folder = original.model->folder;
  model->enclosing = original.model->enclosing;
  if (model->enclosing) model->names = original.model->names;
  for (const auto& p : draft.pending) known[p.tensor] = model->held[p.tensor] = p.data;
  for (const auto& t : draft.proto.graph().initializer()) {
    auto it = known.find(&t);
    auto data = it != known.end() ? it->second : constant_of(t, original.model);
    auto mine = data ? without_data(t) : std::make_unique<onnx::TensorProto>(t);
    if (data) model->held[mine.get()] = std::move(data);
    model->initialisers.push_back(std::move(mine));
  }
  draft.release_initialisers();
  model->shell.Swap(&draft.proto);
  return import_model(model);
}

Result<Digest> digest_of(const Imported& imported) {
  Sha256 sha;
  ASSIGN_OR_RETURN(Digest graph, digest_of(imported.graph));
  sha.text("model").digest(graph);
  for (const auto& [name, data] : defaults(imported)) {
    auto digest = digest_of(*data);
    if (!digest)
      return error(imported.model->name + ": initialiser '" + name + "' " + digest.error().message);
    sha.text(name).digest(*digest);
  }
  return sha.finish();
}

}  // namespace regraft::io

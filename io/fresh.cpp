// A model around a graph that no file holds.
#include <fmt/format.h>

#include "io/proto.h"

namespace regraft::io {
namespace {

Status declare(onnx::ValueInfoProto& info, const std::string& name, const TensorType& type) {
  auto dims = type.shape ? numeric(*type.shape) : std::nullopt;
  if (!dims) return error(fmt::format("'{}': its sizes are not numbers", name));
  info.set_name(name);
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(static_cast<int>(type.dtype));
  tensor.mutable_shape();  // present for a scalar, too
  for (int64_t d : *dims) tensor.mutable_shape()->add_dim()->set_dim_value(d);
  return {};
}

}  // namespace

Result<Imported> model_of(Graph g, int opset) {
  auto model = std::make_shared<Model>();
  model->name = "graph";
  model->ir_version = 8;
  model->opset = opset;
  model->shell.set_ir_version(model->ir_version);
  model->shell.set_producer_name("regraft");
  model->shell.add_opset_import()->set_version(opset);
  auto& proto = *model->shell.mutable_graph();
  proto.set_name("graph");
  for (size_t k = 0; k < g.inputs().size(); ++k) {
    Node node = g.node(g.inputs()[k].node);
    node.names = {fmt::format("x{}", k)};
    RETURN_IF_ERROR(declare(*proto.add_input(), node.names[0], node.types[0]));
    g.replace_node(g.inputs()[k].node, std::move(node));
  }
  for (size_t k = 0; k < g.outputs().size(); ++k)
    RETURN_IF_ERROR(declare(*proto.add_output(), fmt::format("y{}", k), g.type(g.outputs()[k])));
  return Imported{model, std::move(g)};
}

}  // namespace regraft::io

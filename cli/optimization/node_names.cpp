#include "cli/optimization/node_names.h"

namespace regraft::cli {
namespace {

std::string quoted(const std::string& type, const std::string& name) {
  return name.empty() ? type : type + " '" + name + "'";
}

}  // namespace

NodeNames::NodeNames(const io::Imported& model)
    : nodes_(io::coverage(model)), by_id_(static_cast<size_t>(model.graph.id_bound()), -1) {
  for (size_t k = 0; k < nodes_.size(); ++k)
    if (int32_t id = nodes_[k].id; id >= 0)
      by_id_[static_cast<size_t>(id)] = static_cast<int32_t>(k);
}

const io::NodeCoverage* NodeNames::of(int32_t id) const {
  bool known = static_cast<size_t>(id) < by_id_.size() && by_id_[static_cast<size_t>(id)] >= 0;
  return known ? &nodes_[static_cast<size_t>(by_id_[static_cast<size_t>(id)])] : nullptr;
}

std::string NodeNames::operator()(const Graph& g, int32_t id) const {
  if (const io::NodeCoverage* node = of(id)) return quoted(node->type, node->name);
  const Node& node = g.node(id);
  std::string type = "node";
  if (node.op) type = node.op->onnx.empty() ? node.op->name : node.op->onnx.front();
  return quoted(type, node.names.empty() ? "" : node.names.front());
}

std::string NodeNames::unknown(int32_t id) const {
  const io::NodeCoverage* node = of(id);
  if (!node) return "it is carried along as it is";
  switch (node->reason) {
    case io::Reason::UnknownType:
      return "no operator of this name is known";
    case io::Reason::NotReal:
      return "it computes no real numbers";
    case io::Reason::NoType:
      return "the element type of an operand is not known";
    case io::Reason::NoShape:
      return "the shape of an operand is not known";
    case io::Reason::Empty:
      return "an operand has no elements";
    case io::Reason::Form:
      return "its attributes, or inputs that are no constants, cannot be expressed";
    case io::Reason::OpenSizes:
      return "sizes that must be equal are not known to be: one may be 1 when the model runs";
    case io::Reason::None:
      break;
  }
  return "it is carried along as it is";
}

}  // namespace regraft::cli

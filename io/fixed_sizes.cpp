#include <algorithm>

#include <fmt/format.h>

#include "io/proto.h"

#include "base/nearest.h"

namespace regraft::io {
namespace {

using Dim = onnx::TensorShapeProto::Dimension;

Status agree(const std::string& what, int64_t has, int64_t wanted) {
  if (has == wanted) return {};
  return error(fmt::format("{} is {}, not {}", what, has, wanted));
}

/// The axes of one input; names that get a size by it go to `dims`.
Status fix_input(onnx::ValueInfoProto& input, const std::vector<int64_t>& sizes,
                 std::map<std::string, int64_t>& dims) {
  auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
  std::string what = fmt::format("--shape: input '{}'", input.name());
  if (shape.dim_size() != static_cast<int>(sizes.size()))
    return error(fmt::format("{} has {} axes, not {}", what, shape.dim_size(), sizes.size()));
  for (int d = 0; d < shape.dim_size(); ++d) {
    Dim& dim = *shape.mutable_dim(d);
    int64_t wanted = sizes[static_cast<size_t>(d)];
    std::string axis = fmt::format("{}, axis {}", what, d);
    if (dim.has_dim_value()) RETURN_IF_ERROR(agree(axis, dim.dim_value(), wanted));
    if (dim.has_dim_param() && !dim.dim_param().empty()) {
      auto [it, fresh] = dims.emplace(dim.dim_param(), wanted);
      if (!fresh) RETURN_IF_ERROR(agree(fmt::format("'{}'", it->first), it->second, wanted));
    }
    dim.set_dim_value(wanted);
  }
  return {};
}

/// Whether a name occurs.
bool fix_named(onnx::ValueInfoProto& value, const std::string& name, int64_t size) {
  if (!value.type().has_tensor_type() || !value.type().tensor_type().has_shape()) return false;
  bool found = false;
  for (Dim& dim : *value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
    if (!dim.has_dim_param() || dim.dim_param() != name) continue;
    dim.set_dim_value(size);
    found = true;
  }
  return found;
}

constexpr int64_t kBatch = 1, kImage = 224, kSignal = 4096, kOther = 64;
constexpr size_t kImageAxes = 4;

/// The size that is the first of every input but of scalars and those of which there is one;
/// nullptr: there is none.
Var batch_of(const std::vector<Shape>& inputs) {
  Var batch = nullptr;
  for (const Shape& shape : inputs) {
    if (shape.empty() || same(shape[0], Poly(1))) continue;
    Var first = symbol_of(shape[0]);
    if (!first || (batch && first != batch)) return nullptr;
    batch = first;
  }
  return batch;
}

/// Of an axis that is not the batch. The last axis of real numbers is a signal's.
int64_t guess(const TensorType& type, size_t axis) {
  const size_t rank = type.shape->size();
  if (rank >= kImageAxes) return kImage;
  return is_real(type.dtype) && axis > 0 && axis + 1 == rank ? kSignal : kOther;
}

std::vector<std::string> names_of(const std::map<Var, int64_t, SymbolLess>& typical) {
  std::vector<std::string> names;
  for (const auto& [v, size] : typical) names.push_back(v->name);
  return names;
}

std::vector<std::string> names_of_inputs(const onnx::GraphProto& graph) {
  std::vector<std::string> names;
  for (const auto& input : graph.input()) names.push_back(input.name());
  return names;
}

std::vector<std::string> names_of_dimensions(const onnx::GraphProto& graph) {
  std::vector<std::string> names;
  for (const auto& input : graph.input())
    for (const auto& d : input.type().tensor_type().shape().dim())
      if (!d.dim_param().empty()) names.push_back(d.dim_param());
  return names;
}

}  // namespace

Status set_typical_sizes(Graph& graph, const std::map<std::string, int64_t>& named) {
  std::vector<Shape> inputs;
  for (Value v : graph.inputs()) inputs.push_back(graph.type(v).shape.value_or(Shape{}));
  Var batch = batch_of(inputs);
  std::map<Var, int64_t, SymbolLess> typical;
  for (Value input : graph.inputs()) {
    const TensorType& type = graph.type(input);
    for (size_t axis = 0; type.shape && axis < type.shape->size(); ++axis)
      if (Var v = symbol_of((*type.shape)[axis])) {
        int64_t size = v == batch ? kBatch : guess(type, axis);
        auto [it, fresh] = typical.emplace(v, size);
        it->second = std::min(it->second, size);
      }
  }
  for (const auto& [name, size] : named) {
    auto at = std::ranges::find_if(typical, [&, &n = name](auto& t) { return t.first->name == n; });
    if (at == typical.end())
      return error(fmt::format("--typical: no input has an open dimension named '{}'{}", name,
                               suggestion(name, names_of(typical))));
    at->second = size;
  }
  for (const auto& [v, size] : typical) graph.pool().set_typical(v, size);
  return {};
}

Status fix_sizes(onnx::GraphProto& graph, const FixedSizes& sizes) {
  std::map<std::string, int64_t> dims = sizes.dims;
  std::map<std::string, bool> found;
  for (const auto& [name, size] : dims) found[name] = false;
  for (auto& input : *graph.mutable_input())  // before the shapes: they name no new ones
    for (auto& [name, seen] : found) seen |= fix_named(input, name, dims.at(name));
  for (const auto& [name, seen] : found)
    if (!seen)
      return error(fmt::format("no input has a dimension named '{}'{}", name,
                               suggestion(name, names_of_dimensions(graph))));
  for (const auto& [name, shape] : sizes.shapes) {
    auto& inputs = *graph.mutable_input();
    auto at = std::find_if(inputs.begin(), inputs.end(), [&, &n = name](auto& v) {
      return v.name() == n && v.type().has_tensor_type();
    });
    if (at == inputs.end())
      return error(fmt::format("--shape: no input is named '{}'{}", name,
                               suggestion(name, names_of_inputs(graph))));
    RETURN_IF_ERROR(fix_input(*at, shape, dims));
  }
  for (const auto& [name, size] : dims) {
    for (auto& v : *graph.mutable_input()) fix_named(v, name, size);
    for (auto& v : *graph.mutable_output()) fix_named(v, name, size);
  }
  // The model was open, so that its numbers inside may be of another batch (see declared_rank);
  // with fixed inputs they would be believed.
  for (auto& v : *graph.mutable_value_info()) {
    if (dims.empty() || !v.type().tensor_type().has_shape()) continue;
    for (Dim& dim : *v.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
      dim.Clear();
  }
  return {};
}

namespace {

bool is_known(const Poly& p, const Valuation& sizes) {
  return std::ranges::all_of(p.terms(), [&](const Poly::Term& t) {
    return std::ranges::all_of(t.monomial, [&](Var v) { return sizes.contains(v); });
  });
}

/// An equation does not hold at these sizes; inequalities, which runtimes take less strictly, count
/// as holding.
bool is_contradicted(const Formula& f, const Valuation& sizes) {
  auto is = [&](const Formula& part) { return is_contradicted(part, sizes); };
  switch (f.kind) {
    case Formula::Zero:
      return is_known(f.poly, sizes) && evaluate(f.poly, sizes) != 0;
    case Formula::And:
      return std::ranges::any_of(f.parts, is);
    case Formula::Or:
      return std::ranges::all_of(f.parts, is);
    case Formula::True:
    case Formula::False:
    case Formula::NonNegative:
      return false;
  }
  return false;
}

/// Each size becomes a symbol, so that what is asked of it is an equation of its own; those that
/// are open have no value.
bool is_contradicted(const OpDef& op, const OnnxNode& node) {
  auto import = op.from_onnx(node);
  if (!import || !numeric(import->attrs)) return false;
  SymbolPool pool;
  Valuation sizes;
  size_t count = 0;
  std::vector<TensorType> types;
  for (int k : import->operands) {
    TensorType t = node.inputs[static_cast<size_t>(k)].type;
    if (!t.shape) return false;
    for (Poly& d : *t.shape) {
      if (d.is_constant() && d.constant() < 1) return false;
      Var symbol = pool.named(std::to_string(count++));
      if (d.is_constant()) sizes[symbol] = d.constant();
      d = Poly::symbol(symbol);
    }
    types.push_back(std::move(t));
  }
  bool found = false;
  auto on_require = [&](const Formula& f) { found = found || is_contradicted(f, sizes); };
  return infer_call(pool, op, types, import->attrs, on_require) && found;
}

}  // namespace

std::optional<std::string> contradicted_node(const Model& model, const Graph& graph) {
  for (int32_t id = 0; id < graph.id_bound(); ++id) {
    if (!graph.contains(id)) continue;
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::Opaque || n.origin < 0 || !model.is_node(n.origin)) continue;
    const auto index = static_cast<size_t>(n.origin);
    const onnx::NodeProto& proto = *model.nodes[index];
    if (!is_default_domain(proto.domain())) continue;
    const OnnxNode node = neutral_node(model, index, graph);
    auto contradicts = [&](const OpDef* op) {
      try {
        return is_contradicted(*op, node);
      } catch (const PolyOverflow&) {
        return false;
      }
    };
    if (std::ranges::any_of(ops_for_onnx(node.type), contradicts)) return describe(proto, index);
  }
  return std::nullopt;
}

}  // namespace regraft::io

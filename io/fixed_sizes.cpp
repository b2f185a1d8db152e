#include <algorithm>

#include <fmt/format.h>

#include "io/proto.h"

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

}  // namespace

Status fix_sizes(onnx::GraphProto& graph, const FixedSizes& sizes) {
  std::map<std::string, int64_t> dims = sizes.dims;
  std::map<std::string, bool> found;
  for (const auto& [name, size] : dims) found[name] = false;
  for (auto& input : *graph.mutable_input())  // before the shapes: they name no new ones
    for (auto& [name, seen] : found) seen |= fix_named(input, name, dims.at(name));
  for (const auto& [name, seen] : found)
    if (!seen) return error(fmt::format("--dim: no input has a dimension named '{}'", name));
  for (const auto& [name, shape] : sizes.shapes) {
    auto& inputs = *graph.mutable_input();
    auto at = std::find_if(inputs.begin(), inputs.end(), [&, &n = name](auto& v) {
      return v.name() == n && v.type().has_tensor_type();
    });
    if (at == inputs.end()) return error(fmt::format("--shape: no input is named '{}'", name));
    RETURN_IF_ERROR(fix_input(*at, shape, dims));
  }
  for (const auto& [name, size] : dims) {
    for (auto& v : *graph.mutable_input()) fix_named(v, name, size);
    for (auto& v : *graph.mutable_output()) fix_named(v, name, size);
    for (auto& v : *graph.mutable_value_info()) fix_named(v, name, size);
  }
  return {};
}

}  // namespace regraft::io

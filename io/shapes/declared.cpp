#include "io/shapes/declared.h"

#include <optional>

namespace regraft::io {
namespace {

bool is_tensor(const onnx::ValueInfoProto& info) { return info.type().has_tensor_type(); }

/// The size that both state; nullopt: they do not.
std::optional<int64_t> common_size(const onnx::TensorShapeProto::Dimension& a,
                                   const onnx::TensorShapeProto::Dimension& b) {
  bool same = a.has_dim_value() && b.has_dim_value() && a.dim_value() == b.dim_value();
  return same && a.dim_value() >= 0 ? std::optional(a.dim_value()) : std::nullopt;
}

TensorType common_type(const onnx::TypeProto::Tensor& a, const onnx::TypeProto::Tensor& b,
                       SymbolPool& pool) {
  TensorType type;
  if (a.elem_type() != b.elem_type()) return type;
  type.dtype = static_cast<DType>(a.elem_type());
  bool ranked = a.has_shape() && b.has_shape() && a.shape().dim_size() == b.shape().dim_size();
  if (!ranked) return type;
  type.shape = Shape{};
  for (int d = 0; d < a.shape().dim_size(); ++d) {
    auto size = common_size(a.shape().dim(d), b.shape().dim(d));
    type.shape->push_back(size ? Poly(*size) : Poly::symbol(pool.fresh("d", SymbolKind::Size, 0)));
  }
  return type;
}

}  // namespace

TensorType declared_type(const onnx::ValueInfoProto& info, SymbolPool& pool) {
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

TensorType declared_rank(const onnx::ValueInfoProto& info, SymbolPool& pool) {
  TensorType type = declared_type(info, pool);
  if (type.shape)
    for (Poly& d : *type.shape) d = Poly::symbol(pool.fresh("d", SymbolKind::Size, 0));
  return type;
}

std::vector<TensorType> types_of_branches(const onnx::NodeProto& node, SymbolPool& pool) {
  std::vector<TensorType> types(static_cast<size_t>(node.output_size()));
  std::vector<const onnx::GraphProto*> branches;
  for (const auto& a : node.attribute())
    if (a.has_g()) branches.push_back(&a.g());
  if (branches.size() != 2) return types;
  const auto &a = branches[0]->output(), &b = branches[1]->output();
  for (int k = 0; k < node.output_size() && k < a.size() && k < b.size(); ++k)
    if (is_tensor(a[k]) && is_tensor(b[k]))
      types[static_cast<size_t>(k)] =
          common_type(a[k].type().tensor_type(), b[k].type().tensor_type(), pool);
  return types;
}

}  // namespace regraft::io

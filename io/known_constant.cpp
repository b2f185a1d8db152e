// Nodes whose results are in the file, or follow from their attributes and a shape.
#include "io/proto.h"
#include "io/tensors.h"

namespace regraft::io {
namespace {

constexpr int64_t kMaxMadeBytes = int64_t{1} << 36;  // of a constant made from its shape

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, std::string_view name) {
  for (const auto& a : node.attribute()) {
    if (a.name() == name && !a.has_ref_attr_name()) return &a;
  }
  return nullptr;
}

std::shared_ptr<const Constant> listed_constant(const onnx::NodeProto& node) {
  auto count = [](int n) { return std::vector<int64_t>{n}; };
  if (const auto* a = find_attribute(node, "value_float")) return Constant::of_floats({}, {a->f()});
  if (const auto* a = find_attribute(node, "value_int")) return Constant::of_ints({}, {a->i()});
  if (const auto* a = find_attribute(node, "value_floats")) {
    return Constant::of_floats(count(a->floats_size()), {a->floats().begin(), a->floats().end()});
  }
  if (const auto* a = find_attribute(node, "value_ints")) {
    return Constant::of_ints(count(a->ints_size()), {a->ints().begin(), a->ints().end()});
  }
  return nullptr;
}

/// A constant filled with one value, made when it is asked for.
std::shared_ptr<const Constant> filled(const onnx::NodeProto& node,
                                       const std::vector<int64_t>& dims,
                                       const std::shared_ptr<const Model>& owner) {
  const auto* a = find_attribute(node, "value");
  auto one =
      a != nullptr && a->has_t() ? constant_of(a->t(), owner) : Constant::of_floats({1}, {0});
  if (!one || one->count() != 1) return nullptr;
  auto element = one->bytes();
  if (!element) return nullptr;
  int64_t bytes = static_cast<int64_t>(element->size());
  for (int64_t d : dims) {
    if (d <= 0 || bytes > kMaxMadeBytes / d) return nullptr;
    bytes *= d;
  }
  auto read = [pattern = *element, bytes](const Constant::Visit& visit) -> Status {
    constexpr int64_t kBlock = 1 << 16;  // elements have 1, 2, 4, 8 or 16 bytes
    std::vector<std::byte> block(static_cast<size_t>(std::min(bytes, kBlock)));
    for (size_t k = 0; k < block.size(); ++k) block[k] = pattern[k % pattern.size()];
    for (int64_t left = bytes; left > 0; left -= kBlock)
      visit({block.data(), static_cast<size_t>(std::min(left, kBlock))});
    return {};
  };
  return std::make_shared<Constant>(one->dtype(), dims, read,
                                    static_cast<int64_t>(element->size()));
}

}  // namespace

std::shared_ptr<const Constant> known_constant(const OnnxNode& node, const onnx::NodeProto& proto,
                                               const std::shared_ptr<const Model>& owner) {
  if (node.type == "Constant" && node.inputs.empty()) {
    const auto* a = find_attribute(proto, "value");
    return a != nullptr && a->has_t() ? constant_of(a->t(), owner) : listed_constant(proto);
  }
  if (node.type == "ConstantOfShape" && node.inputs.size() == 1) {
    if (auto dims = node.constant_ints(0)) return filled(proto, *dims, owner);
  }
  return nullptr;
}

}  // namespace regraft::io

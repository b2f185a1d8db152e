#include "cost/model/kinds.h"

#include <algorithm>
#include <array>

namespace regraft::cost {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(Kind::kCount)> kNames = {
    "dense-conv", "pointwise-conv", "depthwise-conv", "grouped-conv", "blocked-grouped-conv",
    "product",    "pooling",        "elementwise",    "reduction",    "normalisation",
    "movement",   "reorder"};

/// Which of the convolutions, by groups and kernel size.
Kind kind_of_conv(const OpDef& op, const Attrs<Poly>& at, std::span<const TensorType> operands) {
  const auto& w = operands[1].shape;
  const Poly& group = at.ints[static_cast<size_t>(op.int_attr("group"))][0];
  if (!w || w->size() < 3) return Kind::DenseConv;
  if (!same(group, Poly(1)))
    return same((*w)[1], Poly(1)) ? Kind::DepthwiseConv : Kind::GroupedConv;
  bool pointwise = std::all_of(w->begin() + 2, w->end(), [](const Poly& d) { return is_one(d); });
  return pointwise ? Kind::PointwiseConv : Kind::DenseConv;
}

}  // namespace

std::string_view to_string(Kind kind) { return kNames[static_cast<size_t>(kind)]; }

std::optional<Kind> kind_named(std::string_view name) {
  auto at = std::find(kNames.begin(), kNames.end(), name);
  if (at == kNames.end()) return std::nullopt;
  return static_cast<Kind>(at - kNames.begin());
}

Kind kind_of(const OpDef& op, const Attrs<Poly>& at, std::span<const TensorType> operands) {
  switch (op.work) {
    case Work::Elementwise:
      return Kind::Elementwise;
    case Work::Convolution:
      return kind_of_conv(op, at, operands);
    case Work::Product:
      return Kind::Product;
    case Work::Pooling:
      return Kind::Pooling;
    case Work::Reduction:
      return op.real_attr("epsilon") >= 0 ? Kind::Normalisation : Kind::Reduction;
    case Work::Movement:
      return Kind::Movement;
  }
  return Kind::Elementwise;
}

}  // namespace regraft::cost

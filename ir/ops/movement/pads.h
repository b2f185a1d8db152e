#pragma once
// What the paddings share: where ONNX has the pads.
#include "ir/ops/define.h"

namespace regraft::ops {

/// The pads of a Pad node, begins and then ends of all axes: an attribute before opset 11, then an
/// input; opset 18 adds axes. nullopt when they are not constant, or some are below 0.
inline std::optional<std::vector<int64_t>> onnx_pads(const OnnxNode& n) {
  auto rank = rank_of(n, 0);
  auto pads = n.opset >= 11 ? n.constant_ints(1) : std::nullopt;
  if (const auto* attr = n.ints("pads")) pads = *attr;
  bool some_axes = n.inputs.size() > 3 && n.inputs[3].present;
  auto axes = some_axes ? n.constant_ints(3) : std::nullopt;
  if (!rank || !pads || (some_axes && !axes)) return std::nullopt;
  auto r = static_cast<size_t>(*rank);
  std::vector<int64_t> full(2 * r, 0);
  size_t count = axes ? axes->size() : r;
  if (pads->size() != 2 * count) return std::nullopt;
  for (size_t k = 0; k < count; ++k) {
    int64_t axis = axes ? (*axes)[k] : static_cast<int64_t>(k);
    if (!axis_fits(axis, *rank) || (*pads)[k] < 0 || (*pads)[k + count] < 0) return std::nullopt;
    full[static_cast<size_t>(axis_of(axis, *rank))] = (*pads)[k];
    full[static_cast<size_t>(axis_of(axis, *rank)) + r] = (*pads)[k + count];
  }
  return full;
}

}  // namespace regraft::ops

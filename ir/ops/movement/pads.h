#pragma once
// What the paddings share: where ONNX has the pads.
#include "ir/ops/define.h"

namespace regraft::ops {

/// The pads of a Pad node, begins and then ends of all axes: an attribute before opset 11, then an
/// input; opset 18 adds axes. nullopt when they are not known, or some may be below 0.
inline std::optional<std::vector<Poly>> onnx_pads(const OnnxNode& n) {
  auto rank = rank_of(n, 0);
  auto pads = n.opset >= 11 && n.inputs.size() > 1 ? n.sizes(1) : std::nullopt;
  if (const auto* attr = n.ints("pads")) pads = polys(*attr);
  bool some_axes = n.inputs.size() > 3 && n.inputs[3].present;
  auto axes = some_axes ? n.constant_ints(3) : std::nullopt;
  if (!rank || !pads || (some_axes && !axes)) return std::nullopt;
  auto r = static_cast<size_t>(*rank);
  std::vector<Poly> full(2 * r, Poly(0));
  size_t count = axes ? axes->size() : r;
  if (pads->size() != 2 * count) return std::nullopt;
  if (!std::ranges::all_of(*pads, never_negative)) return std::nullopt;
  for (size_t k = 0; k < count; ++k) {
    int64_t axis = axes ? (*axes)[k] : static_cast<int64_t>(k);
    if (!axis_fits(axis, *rank)) return std::nullopt;
    full[static_cast<size_t>(axis_of(axis, *rank))] = (*pads)[k];
    full[static_cast<size_t>(axis_of(axis, *rank)) + r] = (*pads)[k + count];
  }
  return full;
}

/// Writes the pads as `opset` has them. Error: before opset 11, and they are no numbers.
inline Status write_pads(const std::vector<Poly>& pads, Opset opset, OnnxExport& node) {
  if (pads.empty()) return error("Pad of a scalar does not run");
  if (opset >= 11) {
    ASSIGN_OR_RETURN(auto input, size_input("pads", pads));
    node.inputs.push_back(std::move(input));
  } else {
    ASSIGN_OR_RETURN(auto known, numbers("pads", pads));
    node.attrs["pads"] = ints_attr(known);
  }
  return {};
}

}  // namespace regraft::ops

#pragma once
// What machines and runtimes distinguish of operators.
#include <optional>
#include <span>
#include <string_view>

#include "ir/ops/op.h"

namespace regraft::cost {

/// What a machine does at different speeds.
enum class Kind : uint8_t {
  DenseConv,
  PointwiseConv,
  DepthwiseConv,
  GroupedConv,
  BlockedGroupedConv,  ///< of kernels in the blocked layout: groups fill blocks
  Product,             ///< of matrices
  Pooling,             ///< windows without weights
  Elementwise,
  Reduction,      ///< softmax included
  Normalisation,  ///< what divides by a deviation
  Movement,       ///< no arithmetic
  Reorder,        ///< between layouts
  kCount,
};
std::string_view to_string(Kind kind);
/// Inverse of to_string.
std::optional<Kind> kind_named(std::string_view name);
/// Of a call: its operator's work, convolutions by groups and kernel size.
Kind kind_of(const OpDef& op, const Attrs<Poly>& at, std::span<const TensorType> operands);

/// What was measured of one kind; 0: not measured.
struct Rate {
  double gflops = 0;
  double gbytes = 0;  ///< 10^9 bytes a second
};

}  // namespace regraft::cost

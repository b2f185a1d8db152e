#pragma once
// Calls that a kernel's root takes into itself: scales and shifts folded into weights, functions of
// one element and sums applied to its result before that is stored. Internal to cost/cpu.
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph/graph.h"

namespace regraft::cost::cpu {

/// What is applied to each element of a result.
struct PostOp {
  enum class Kind : uint8_t { Function, Sum, Binary };
  Kind kind = Kind::Function;
  dnnl::algorithm algorithm = dnnl::algorithm::undef;
  float alpha = 0, beta = 0;    ///< of a function
  Value other;                  ///< Sum: what is added; Binary: the right operand, one per channel
  std::vector<float> channels;  ///< Binary
};
std::string to_string(const PostOp& post);

/// Calls that run together: a convolution or product and what it takes into itself; calls on
/// single elements of tensors of one shape; or one call.
struct Unit {
  std::vector<int32_t> nodes;  ///< the root first
  // Of a convolution or product:
  size_t folded =
      1;  ///< so many nodes are in the root, its scale and its shift; the rest in `post`
  /// Of each channel of the root's result; empty: 1 and 0. A scale that is not 1 only where the
  /// weights are constant.
  std::vector<double> scale, shift;
  std::vector<PostOp> post;
  Value last() const { return {nodes.back(), 0}; }
};

/// The value of a one-element constant.
std::optional<double> scalar_constant(const Graph& g, Value v);
/// The call as functions of one operand's elements (the others being scalar constants), in order;
/// nullopt when it is something else.
std::optional<std::vector<PostOp>> as_functions(const Graph& g, const Node& call, Value operand);

/// The constant v as one number for each index on the axis of `shape`, to which it is broadcast;
/// nullopt when it is no constant or varies on another axis.
std::optional<std::vector<double>> channel_vector(const Graph& g, Value v,
                                                  const std::vector<int64_t>& shape, int axis);
bool is_contraction(const OpDef& op);  ///< a convolution or a product that others fuse with
/// All calls of the graph as units, in an order in which each finds its operands.
std::vector<Unit> units(const Graph& g, const std::vector<int32_t>& order);

}  // namespace regraft::cost::cpu

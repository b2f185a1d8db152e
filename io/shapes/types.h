#pragma once
// Inside io/ only: types of nodes that become no calls.
#include "ir/graph/graph.h"

namespace regraft::io {

bool is_empty(const Shape& shape);  ///< a size is plainly 0
/// A shape whose known sizes no tensor can have says nothing.
TensorType possible(TensorType type);
/// What operators may take for granted: their first inputs are present, of a small known rank.
bool is_readable(const OnnxNode& node, const OpDef& op);
/// An operand that is no real number while operand 0 is, or the reverse, of an operator whose
/// operands are of one type.
std::optional<size_t> mixed_operand(const OnnxNode& node);
/// Its first output is its first input: an Identity, a Cast to the type that it has, a Dropout that
/// does not train.
bool hands_on(const OnnxNode& node);
/// Types of the outputs as far as they follow from the inputs' types, constants, sizes and
/// attributes of a node of ONNX's default domain: by the registry's rules, and by ONNX's for other
/// operators. What is not known is Undefined or has no shape. Sizes that depend on data are fresh
/// symbols. Source: the shape rules of ONNX's operator documentation.
std::vector<TensorType> output_types(const OnnxNode& node, SymbolPool& pool);
/// `known` where it says something, else `stated` (the model's value_info).
TensorType merge(const TensorType& known, const TensorType& stated);

}  // namespace regraft::io

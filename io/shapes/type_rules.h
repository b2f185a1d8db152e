#pragma once
// Inside io/ only: ONNX's shape rules, for operators that the registry does not know and for forms
// that it cannot express.
#include <vector>

#include "ir/ops/op.h"

namespace regraft::io {

/// The types of a node's outputs, as far as they are known; may be fewer than its outputs.
using TypeRule = std::vector<TensorType> (*)(const OnnxNode& node, SymbolPool& pool);
/// That of an operator of the default domain; nullptr: none is known. REQUIRES of the node that is
/// given to it: it has an input. Source: the shape rules of ONNX's operator documentation.
TypeRule type_rule(std::string_view type);

}  // namespace regraft::io

#pragma once
// Inside io/ only: output types of operators that the registry does not know.
#include "ir/graph/graph.h"

namespace regraft::io {

/// Types of the outputs as far as they follow from the inputs' types, constants and attributes of a
/// node of ONNX's default domain. What is not known is Undefined or has no shape. Sizes that depend
/// on data are fresh symbols. Source: the shape rules of ONNX's operator documentation.
std::vector<TensorType> foreign_types(const OnnxNode& node, SymbolPool& pool);
/// `known` where it says something, else `stated` (the model's value_info).
TensorType merge(const TensorType& known, const TensorType& stated);

}  // namespace regraft::io

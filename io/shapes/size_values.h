#pragma once
// Inside io/ only: what models compute their shapes with.
#include "ir/algebra/size_tensor.h"
#include "ir/ops/op.h"

namespace regraft::io {

/// The outputs of a node of ONNX's default domain, as far as they are small tensors whose elements
/// follow from the shapes of its inputs and from elements of these that are known; empty: none is.
/// Sizes count as at least their least value, and as small enough for float32 to hold them.
/// Source: ONNX's operator documentation; integers divide as in onnxruntime, towards zero.
std::vector<SizeTensorPtr> size_values(const OnnxNode& node, SymbolPool& pool);
/// Are the elements that size_values gives of this node elements of its inputs, so that nothing is
/// rounded?
bool keeps_elements(const OnnxNode& node);

}  // namespace regraft::io

#pragma once
// Inside io/ only: types that a file states.
#include <vector>

#include <onnx/onnx_pb.h>

#include "ir/algebra/tensor.h"

namespace regraft::io {

/// The type of a value as the file states it; sizes that it does not state are fresh.
TensorType declared_type(const onnx::ValueInfoProto& info, SymbolPool& pool);

/// The same, of which sizes are not believed: each is fresh, and may be 0. What a file states of
/// values inside is often of another batch: tools make inputs open and leave the rest.
TensorType declared_rank(const onnx::ValueInfoProto& info, SymbolPool& pool);

/// The outputs of an If as far as both branches state the same of them. A size in which they differ
/// is fresh, and may be 0.
std::vector<TensorType> types_of_branches(const onnx::NodeProto& node, SymbolPool& pool);

}  // namespace regraft::io

#pragma once
// Inside io/ only: one form for nodes that mean the same, of operators that the graph carries.
#include "io/proto.h"

namespace regraft::io {

/// The opset at which the operator's meaning changed last, seen from `opset`; later versions only
/// allow more types, or add an attribute whose default keeps what was. `opset` itself where that
/// is not known.
int64_t meaning_version(const onnx::NodeProto& node, int64_t opset);

/// Forgets what ONNX allows anyone to write beside a node: metadata_props.
void clear_metadata(onnx::NodeProto& node);

/// Forgets which outputs the node has, where that does not change the others.
void clear_optional_outputs(onnx::NodeProto& node);

/// Attributes that are missing become what ONNX says they default to, also those that only later
/// opsets of the same meaning have.
void add_defaults(onnx::NodeProto& node, int64_t opset);

}  // namespace regraft::io

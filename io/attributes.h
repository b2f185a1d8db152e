#pragma once
// Inside io/ only: attributes of ONNX nodes in neutral form.
#include "io/proto.h"

namespace regraft::io {

/// Numbers and text as they are; anything else is `opaque`.
OnnxAttr neutral(const onnx::AttributeProto& attribute);
/// Writes an attribute of a new node. REQUIRES: not opaque.
onnx::AttributeProto attribute_proto(const std::string& name, const OnnxAttr& attr);

}  // namespace regraft::io

#pragma once
// Single tensors in files of their own: ONNX's TensorProto, the form of its stored test data.
#include <memory>
#include <string>

#include "base/result.h"
#include "ir/algebra/tensor.h"

namespace regraft::io {

/// An Error when the file is no tensor, or of a type without a fixed number of bytes.
Result<std::shared_ptr<const Constant>> read_tensor(const std::string& path);
/// Replaces the file. The element type of `data` is kept.
Status write_tensor(const std::string& path, const Constant& data);

}  // namespace regraft::io

#pragma once
// Single tensors in files: the test vectors of ONNX (serialised TensorProto messages).
#include <memory>
#include <string>

#include "base/result.h"
#include "ir/tensor.h"

namespace regraft::io {

/// A file that holds one TensorProto with inline data. An Error names the file.
Result<std::shared_ptr<const Constant>> read_tensor(const std::string& path);
/// Writes a tensor as a TensorProto.
Status write_tensor(const std::string& path, const Constant& tensor);

}  // namespace regraft::io

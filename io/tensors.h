#pragma once
// Inside io/ only: tensors of a file, their sizes, and where their data lies.
#include <memory>
#include <optional>
#include <string>

#include "io/proto.h"

namespace regraft::io {

/// Bytes of `count` elements as stored in raw data; nullopt for text and types that have no number
/// here.
std::optional<int64_t> stored_bytes(int32_t type, int64_t count);

/// A range of a file.
struct Place {
  std::string file;  ///< canonical path
  int64_t offset = 0, length = 0;
};
bool is_external(const onnx::TensorProto& tensor);
/// Where an external tensor lies. An Error when the path leaves `folder` (also through links), or
/// the file is missing or too short. REQUIRES: is_external(tensor), dimensions checked.
Result<Place> locate(const onnx::TensorProto& tensor, const std::string& folder);
/// Dimensions, element type and data agree. The Error does not name the tensor.
Status check_tensor(const onnx::TensorProto& tensor, const std::string& folder);
/// The data of a checked tensor; nullptr when its type has none that the graph understands.
/// Large data stays in the message, which `owner` keeps alive, or in its file.
std::shared_ptr<const Constant> constant_of(const onnx::TensorProto& tensor,
                                            const std::shared_ptr<const Model>& owner);
/// The data of a checked tensor that is not external; empty for text.
std::vector<std::byte> inline_bytes(const onnx::TensorProto& tensor);
/// The bytes of a range, in pieces.
Status read_place(const Place& place, const Constant::Visit& visit);

}  // namespace regraft::io

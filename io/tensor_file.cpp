#include "io/tensor_file.h"

#include <fstream>

#include <fmt/format.h>

#include "base/files/output_file.h"
#include "io/tensors.h"

namespace regraft::io {

Result<std::shared_ptr<const Constant>> read_tensor(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return error(fmt::format("{}: cannot be opened", path));
  onnx::TensorProto tensor;
  if (!tensor.ParseFromIstream(&file)) return error(fmt::format("{}: is not a tensor file", path));
  auto model = std::make_shared<Model>();  // external data is refused: it has no folder
  if (auto status = check_tensor(tensor, model->folder); !status) {
    return error(fmt::format("{}: the tensor {}", path, status.error().message));
  }
  DType type = static_cast<DType>(tensor.data_type());
  if (tensor.data_type() > static_cast<int32_t>(DType::BF16) || size_of(type) == 0 ||
      tensor.has_segment()) {
    return error(fmt::format("{}: has an element type that cannot be read", path));
  }
  std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  return std::shared_ptr<const Constant>(
      std::make_shared<Constant>(type, std::move(dims), inline_bytes(tensor)));
}

Status write_tensor(const std::string& path, const Constant& data) {
  ASSIGN_OR_RETURN(std::vector<std::byte> bytes, data.bytes());
  onnx::TensorProto tensor;
  tensor.set_data_type(static_cast<int32_t>(data.dtype()));
  for (int64_t d : data.dims()) tensor.add_dims(d);
  tensor.set_raw_data(bytes.data(), bytes.size());
  return write_file(path, tensor.SerializeAsString());
}

}  // namespace regraft::io

#include "io/tensor_file.h"

#include <fstream>
#include <sstream>

#include "io/tensors.h"

namespace regraft::io {

Result<std::shared_ptr<const Constant>> read_tensor(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  onnx::TensorProto tensor;
  if (!file || !tensor.ParseFromString(bytes.str())) return error(path + ": not a tensor");
  if (is_external(tensor)) return error(path + ": the tensor's data is in another file");
  if (auto status = check_tensor(tensor, "."); !status) return error(path + ": " + status.error().message);
  auto data = constant_of(tensor, nullptr);
  if (!data) return error(path + ": tensors of this element type cannot be read");
  // The data may still lie in the message: take a copy.
  ASSIGN_OR_RETURN(auto copy, data->bytes());
  return std::shared_ptr<const Constant>(std::make_shared<Constant>(data->dtype(), data->dims(), std::move(copy)));
}

Status write_tensor(const std::string& path, const Constant& data) {
  onnx::TensorProto tensor;
  tensor.set_data_type(static_cast<int32_t>(data.dtype()));
  for (int64_t d : data.dims()) tensor.add_dims(d);
  auto bytes = data.bytes();
  if (!bytes) return bytes.error();
  tensor.set_raw_data(bytes->data(), bytes->size());
  std::ofstream file(path, std::ios::binary);
  if (!tensor.SerializeToOstream(&file) || !file.flush()) return error(path + ": cannot be written");
  return {};
}

}  // namespace regraft::io

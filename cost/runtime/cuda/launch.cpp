#include "cost/runtime/cuda/launch.h"

#include <algorithm>

namespace regraft::cost::cuda {
namespace {

Result<std::vector<Launch>> prepare_source(Session& session, const Source& s) {
  ASSIGN_OR_RETURN(Function f, session.function(s));
  dim3 grid(static_cast<unsigned>(s.blocks),
            static_cast<unsigned>(std::max<size_t>(s.writes.size(), 1)));
  dim3 block(static_cast<unsigned>(s.threads));
  auto run = [&session, f, grid, block](std::span<void* const> operands, void*) -> Status {
    std::vector<void*> args;
    for (void* const& p : operands) args.push_back(const_cast<void**>(&p));
    CUDA_CALL(cudaLaunchKernel, f.kernel, grid, block, args.data(), 0, session.stream.get());
    return {};
  };
  std::string what = s.share == Share::Blocks ? "kernel, a block for each row"
                                              : "kernel, a thread for each element";
  return std::vector<Launch>{{what, 0, run}};
}

Result<std::vector<Launch>> prepare_softmax(Session& session, const Softmax& s) {
  ASSIGN_OR_RETURN(auto tensor, dnn_tensor(s.type, {s.outer, s.size, s.inner, 1}));
  auto by = [&](cudnnSoftmaxMode_t mode) {
    return
        [&session, tensor, mode, type = s.type](std::span<void* const> operands, void*) -> Status {
          Scale one(type, 1), zero(type, 0);
          CUDA_CALL(cudnnSoftmaxForward, session.dnn.get(), CUDNN_SOFTMAX_ACCURATE, mode, one.get(),
                    tensor.get(), operands[0], zero.get(), tensor.get(), operands[1]);
          return {};
        };
  };
  std::vector<Launch> launches{{"softmax of cuDNN", 0, by(CUDNN_SOFTMAX_MODE_CHANNEL)}};
  if (s.inner == 1)
    launches.push_back({"softmax of cuDNN by rows", 0, by(CUDNN_SOFTMAX_MODE_INSTANCE)});
  return launches;
}

}  // namespace

Result<cudnnDataType_t> dnn_type(DType t) {
  switch (t) {
    case DType::F32:
      return CUDNN_DATA_FLOAT;
    case DType::F64:
      return CUDNN_DATA_DOUBLE;
    case DType::F16:
      return CUDNN_DATA_HALF;
    case DType::BF16:
      return CUDNN_DATA_BFLOAT16;
    default:
      return error("cuda: cuDNN is not used for elements of type " + to_string(t));
  }
}

Result<Handle<cudnnTensorDescriptor_t>> dnn_tensor(DType t, const std::vector<int>& dims) {
  ASSIGN_OR_RETURN(cudnnDataType_t type, dnn_type(t));
  cudnnTensorDescriptor_t raw = nullptr;
  CUDA_CALL(cudnnCreateTensorDescriptor, &raw);
  auto tensor = own(raw, [](auto x) { api().cudnnDestroyTensorDescriptor(x); });
  std::vector<int> strides(dims.size(), 1);
  for (size_t d = dims.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * dims[d + 1];
  CUDA_CALL(cudnnSetTensorNdDescriptor, raw, type, static_cast<int>(dims.size()), dims.data(),
            strides.data());
  return tensor;
}

Result<std::vector<Launch>> prepare(Session& session, const Work& work) {
  if (const auto* s = std::get_if<Source>(&work)) return prepare_source(session, *s);
  if (const auto* c = std::get_if<Convolution>(&work)) return prepare_convolution(session, *c);
  if (const auto* p = std::get_if<Product>(&work)) return prepare_product(session, *p);
  return prepare_softmax(session, std::get<Softmax>(work));
}

}  // namespace regraft::cost::cuda

// Convolutions by cuDNN. The legacy interface, whose algorithms can be listed and timed.
#include "cost/runtime/cuda/launch.h"

namespace regraft::cost::cuda {
namespace {

/// Descriptors of a call; shared by the launches of all algorithms.
struct Description {
  Convolution work;
  Handle<cudnnTensorDescriptor_t> x, y, bias;
  Handle<cudnnFilterDescriptor_t> w;
  Handle<cudnnConvolutionDescriptor_t> convolution;
  Handle<cudnnActivationDescriptor_t> activation;
  std::shared_ptr<void> zeros;  ///< for a missing bias
};

bool is_fused(const Convolution& c) { return c.bias || c.added || c.relu; }

Result<Handle<cudnnFilterDescriptor_t>> filter(const Convolution& c) {
  ASSIGN_OR_RETURN(cudnnDataType_t type, dnn_type(c.type));
  cudnnFilterDescriptor_t raw = nullptr;
  CUDA_CALL(cudnnCreateFilterDescriptor, &raw);
  auto w = own(raw, [](auto x) { api().cudnnDestroyFilterDescriptor(x); });
  CUDA_CALL(cudnnSetFilterNdDescriptor, raw, type, CUDNN_TENSOR_NCHW, static_cast<int>(c.w.size()),
            c.w.data());
  return w;
}

/// Floats are multiplied as they are unless tf32 allows less; shorter types on tensor cores.
cudnnMathType_t math(const Convolution& c, bool tf32) {
  if (c.type == DType::F32) return tf32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
  return c.type == DType::F64 ? CUDNN_DEFAULT_MATH : CUDNN_TENSOR_OP_MATH;
}

Result<Handle<cudnnConvolutionDescriptor_t>> windows(const Convolution& c, bool tf32) {
  cudnnConvolutionDescriptor_t raw = nullptr;
  CUDA_CALL(cudnnCreateConvolutionDescriptor, &raw);
  auto d = own(raw, [](auto x) { api().cudnnDestroyConvolutionDescriptor(x); });
  cudnnDataType_t compute = c.type == DType::F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  CUDA_CALL(cudnnSetConvolutionNdDescriptor, raw, static_cast<int>(c.pads.size()), c.pads.data(),
            c.strides.data(), c.dilations.data(), CUDNN_CROSS_CORRELATION, compute);
  CUDA_CALL(cudnnSetConvolutionGroupCount, raw, c.group);
  CUDA_CALL(cudnnSetConvolutionMathType, raw, math(c, tf32));
  return d;
}

Result<Handle<cudnnActivationDescriptor_t>> activation(bool relu) {
  cudnnActivationDescriptor_t raw = nullptr;
  CUDA_CALL(cudnnCreateActivationDescriptor, &raw);
  auto d = own(raw, [](auto x) { api().cudnnDestroyActivationDescriptor(x); });
  CUDA_CALL(cudnnSetActivationDescriptor, raw,
            relu ? CUDNN_ACTIVATION_RELU : CUDNN_ACTIVATION_IDENTITY, CUDNN_PROPAGATE_NAN, 0.0);
  return d;
}

Result<std::shared_ptr<const Description>> describe(const Session& session, const Convolution& c) {
  auto d = std::make_shared<Description>();
  d->work = c;
  ASSIGN_OR_RETURN(d->x, dnn_tensor(c.type, c.x));
  ASSIGN_OR_RETURN(d->y, dnn_tensor(c.type, c.y));
  ASSIGN_OR_RETURN(d->w, filter(c));
  ASSIGN_OR_RETURN(d->convolution, windows(c, session.tf32));
  if (!is_fused(c)) return std::shared_ptr<const Description>(d);
  std::vector<int> channels(c.y.size(), 1);
  channels[1] = c.y[1];
  ASSIGN_OR_RETURN(d->bias, dnn_tensor(c.type, channels));
  ASSIGN_OR_RETURN(d->activation, activation(c.relu));
  if (!c.bias) {
    size_t bytes = static_cast<size_t>(c.y[1]) * size_of(c.type);
    ASSIGN_OR_RETURN(d->zeros, allocate(bytes));
    RETURN_IF_ERROR(session.clear(d->zeros.get(), bytes));
    RETURN_IF_ERROR(session.finish());
  }
  return std::shared_ptr<const Description>(d);
}

Status run(const Session& session, const Description& d, cudnnConvolutionFwdAlgo_t algorithm,
           size_t bytes, std::span<void* const> operands, void* workspace) {
  const Convolution& c = d.work;
  Scale one(c.type, 1), zero(c.type, 0);
  void *x = operands[0], *w = operands[1], *y = operands.back();
  if (!is_fused(c)) {
    CUDA_CALL(cudnnConvolutionForward, session.dnn.get(), one.get(), d.x.get(), x, d.w.get(), w,
              d.convolution.get(), algorithm, workspace, bytes, zero.get(), d.y.get(), y);
    return {};
  }
  void* bias = c.bias ? operands[2] : d.zeros.get();
  void* added = c.added ? operands[c.bias ? 3 : 2] : y;  // not read when its factor is 0
  CUDA_CALL(cudnnConvolutionBiasActivationForward, session.dnn.get(), one.get(), d.x.get(), x,
            d.w.get(), w, d.convolution.get(), algorithm, workspace, bytes,
            (c.added ? one : zero).get(), d.y.get(), added, d.bias.get(), bias, d.activation.get(),
            d.y.get(), y);
  return {};
}

}  // namespace

Result<std::vector<Launch>> prepare_convolution(Session& session, const Convolution& c) {
  ASSIGN_OR_RETURN(auto d, describe(session, c));
  std::vector<Launch> launches;
  for (int k = 0; k < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; ++k) {
    auto algorithm = static_cast<cudnnConvolutionFwdAlgo_t>(k);
    // Without a relu the fused call is documented for this algorithm only.
    if (is_fused(c) && !c.relu && algorithm != CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM)
      continue;
    size_t bytes = 0;
    auto fits = api().cudnnGetConvolutionForwardWorkspaceSize(session.dnn.get(), d->x.get(),
                                                              d->w.get(), d->convolution.get(),
                                                              d->y.get(), algorithm, &bytes);
    if (fits != CUDNN_STATUS_SUCCESS || bytes > kMaxWorkspace) continue;  // not for this shape
    launches.push_back(
        {"convolution of cuDNN, algorithm " + std::to_string(k), bytes,
         [&session, d, algorithm, bytes](std::span<void* const> operands, void* workspace) {
           return run(session, *d, algorithm, bytes, operands, workspace);
         }});
  }
  return launches;
}

}  // namespace regraft::cost::cuda

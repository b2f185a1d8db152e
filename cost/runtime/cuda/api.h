#pragma once
// The functions of the CUDA libraries that are used, loaded at run time: the program starts, and
// quickly, where they are not installed.
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <nvrtc.h>

#include "base/result.h"

// clang-format off
#define REGRAFT_CUDART(X) \
  X(cudaDriverGetVersion) X(cudaRuntimeGetVersion) X(cudaGetDeviceCount) \
  X(cudaGetDeviceProperties) X(cudaSetDevice) X(cudaGetErrorName) X(cudaGetErrorString) \
  X(cudaGetLastError) X(cudaMalloc) X(cudaFree) X(cudaMemcpyAsync) X(cudaMemsetAsync) \
  X(cudaStreamCreateWithFlags) X(cudaStreamDestroy) X(cudaStreamSynchronize) \
  X(cudaStreamBeginCapture) X(cudaStreamEndCapture) X(cudaEventCreate) X(cudaEventDestroy) \
  X(cudaEventRecord) X(cudaEventElapsedTime) X(cudaLibraryLoadData) X(cudaLibraryUnload) \
  X(cudaLibraryGetKernel) X(cudaLaunchKernel) X(cudaGraphInstantiate) X(cudaGraphDestroy) \
  X(cudaGraphExecDestroy) X(cudaGraphUpload) X(cudaGraphLaunch)
#define REGRAFT_NVRTC(X) \
  X(nvrtcGetErrorString) X(nvrtcGetNumSupportedArchs) X(nvrtcGetSupportedArchs) \
  X(nvrtcCreateProgram) X(nvrtcCompileProgram) X(nvrtcDestroyProgram) \
  X(nvrtcGetProgramLogSize) X(nvrtcGetProgramLog) X(nvrtcGetCUBINSize) X(nvrtcGetCUBIN) \
  X(nvrtcGetPTXSize) X(nvrtcGetPTX)
#define REGRAFT_CUDNN(X) \
  X(cudnnGetVersion) X(cudnnGetErrorString) X(cudnnCreate) X(cudnnDestroy) X(cudnnSetStream) \
  X(cudnnCreateTensorDescriptor) X(cudnnSetTensorNdDescriptor) \
  X(cudnnDestroyTensorDescriptor) X(cudnnCreateFilterDescriptor) \
  X(cudnnSetFilterNdDescriptor) X(cudnnDestroyFilterDescriptor) \
  X(cudnnCreateConvolutionDescriptor) X(cudnnSetConvolutionNdDescriptor) \
  X(cudnnSetConvolutionGroupCount) X(cudnnSetConvolutionMathType) \
  X(cudnnDestroyConvolutionDescriptor) X(cudnnCreateActivationDescriptor) \
  X(cudnnSetActivationDescriptor) X(cudnnDestroyActivationDescriptor) \
  X(cudnnGetConvolutionForwardWorkspaceSize) X(cudnnConvolutionForward) \
  X(cudnnConvolutionBiasActivationForward) X(cudnnSoftmaxForward)
#define REGRAFT_CUBLASLT(X) \
  X(cublasLtGetVersion) X(cublasLtGetStatusString) X(cublasLtCreate) X(cublasLtDestroy) \
  X(cublasLtMatmulDescCreate) X(cublasLtMatmulDescSetAttribute) X(cublasLtMatmulDescDestroy) \
  X(cublasLtMatrixLayoutCreate) X(cublasLtMatrixLayoutSetAttribute) \
  X(cublasLtMatrixLayoutDestroy) X(cublasLtMatmulPreferenceCreate) \
  X(cublasLtMatmulPreferenceSetAttribute) X(cublasLtMatmulPreferenceDestroy) \
  X(cublasLtMatmulAlgoGetHeuristic) X(cublasLtMatmul)
// clang-format on

namespace regraft::cost::cuda {

struct Api {
#define REGRAFT_DECLARE(f) decltype(&::f) f = nullptr;
  REGRAFT_CUDART(REGRAFT_DECLARE)
  REGRAFT_NVRTC(REGRAFT_DECLARE)
  REGRAFT_CUDNN(REGRAFT_DECLARE)
  REGRAFT_CUBLASLT(REGRAFT_DECLARE)
#undef REGRAFT_DECLARE
};

/// Loads the libraries; an Error names the library, or the function that it lacks. Thread-safe; the
/// second call costs nothing.
Status load_api();
/// REQUIRES: load_api() succeeded.
const Api& api();
/// For tests: other functions in place of the libraries', from now on.
void replace_api(const Api& functions);

/// "cudaMalloc: out of memory".
Status checked(const char* call, cudaError_t r);
Status checked(const char* call, nvrtcResult r);
Status checked(const char* call, cudnnStatus_t r);
Status checked(const char* call, cublasStatus_t r);

}  // namespace regraft::cost::cuda

/// Calls f(...) of the API and returns its failure from the enclosing function.
#define CUDA_CALL(f, ...) RETURN_IF_ERROR(checked(#f, api().f(__VA_ARGS__)))

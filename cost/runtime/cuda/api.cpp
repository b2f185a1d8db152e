#include "cost/runtime/cuda/api.h"

#include <dlfcn.h>

#include <string>

namespace regraft::cost::cuda {
namespace {

Api g_api;
bool g_replaced = false;

/// By the usual search path, then where the toolkit was when this was built.
Result<void*> open(const std::string& name) {
  for (const std::string& path : {name, REGRAFT_CUDA_LIBRARIES "/" + name})
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  return error("no CUDA device: the library " + name + " is missing");
}

template <class F>
Status find(void* library, const char* name, F& f) {
  f = reinterpret_cast<F>(dlsym(library, name));
  if (!f) return error(std::string("no CUDA device: the libraries have no ") + name);
  return {};
}

std::string versioned(const char* name, int major) {
  return std::string(name) + ".so." + std::to_string(major);
}

Status load() {
  constexpr int kCuda = CUDART_VERSION / 1000;
  ASSIGN_OR_RETURN(void* runtime, open(versioned("libcudart", kCuda)));
  ASSIGN_OR_RETURN(void* compiler, open(versioned("libnvrtc", kCuda)));
  ASSIGN_OR_RETURN(void* dnn, open(versioned("libcudnn", CUDNN_MAJOR)));
  ASSIGN_OR_RETURN(void* blas, open(versioned("libcublasLt", CUBLAS_VER_MAJOR)));
// Headers of CUDA 12 give some functions a name with a version by a macro: that name is looked up.
#define REGRAFT_NAME(f) #f
#define REGRAFT_FIND(f) RETURN_IF_ERROR(find(library, REGRAFT_NAME(f), g_api.f));
  void* library = runtime;
  REGRAFT_CUDART(REGRAFT_FIND)
  library = compiler;
  REGRAFT_NVRTC(REGRAFT_FIND)
  library = dnn;
  REGRAFT_CUDNN(REGRAFT_FIND)
  library = blas;
  REGRAFT_CUBLASLT(REGRAFT_FIND)
#undef REGRAFT_FIND
#undef REGRAFT_NAME
  return {};
}

Error failure(const char* call, const char* why) { return error(std::string(call) + ": " + why); }

}  // namespace

Status load_api() {
  if (g_replaced) return {};
  static const Status status = load();
  return status;
}
void replace_api(const Api& functions) {
  g_api = functions;
  g_replaced = true;
}
const Api& api() { return g_api; }

Status checked(const char* call, cudaError_t r) {
  if (r == cudaSuccess) return {};
  g_api.cudaGetLastError();  // the next call shall not report it again
  return failure(call, g_api.cudaGetErrorString(r));
}
Status checked(const char* call, nvrtcResult r) {
  if (r == NVRTC_SUCCESS) return {};
  return failure(call, g_api.nvrtcGetErrorString(r));
}
Status checked(const char* call, cudnnStatus_t r) {
  if (r == CUDNN_STATUS_SUCCESS) return {};
  return failure(call, g_api.cudnnGetErrorString(r));
}
Status checked(const char* call, cublasStatus_t r) {
  if (r == CUBLAS_STATUS_SUCCESS) return {};
  return failure(call, g_api.cublasLtGetStatusString(r));
}

}  // namespace regraft::cost::cuda

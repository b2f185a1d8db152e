#include "cost/runtime/cuda/session.h"

#include <algorithm>
#include <vector>

namespace regraft::cost::cuda {
namespace {

Result<std::string> architecture(int capability, bool& exact) {
  int count = 0;
  CUDA_CALL(nvrtcGetNumSupportedArchs, &count);
  std::vector<int> known(static_cast<size_t>(count));
  CUDA_CALL(nvrtcGetSupportedArchs, known.data());
  int best = 0;
  for (int k : known)
    if (k <= capability) best = std::max(best, k);
  if (best == 0) return error("nvrtc: devices of this age are not supported any more");
  exact = best == capability;
  return (exact ? "sm_" : "compute_") + std::to_string(best);
}

Result<std::string> log_of(nvrtcProgram program) {
  size_t size = 0;
  CUDA_CALL(nvrtcGetProgramLogSize, program, &size);
  std::string log(size, '\0');
  CUDA_CALL(nvrtcGetProgramLog, program, log.data());
  return log.substr(0, log.find('\0'));
}

}  // namespace

Result<std::shared_ptr<void>> allocate(size_t bytes) {
  void* p = nullptr;
  CUDA_CALL(cudaMalloc, &p, std::max<size_t>(bytes, 1));
  return std::shared_ptr<void>(p, [](void* x) { api().cudaFree(x); });
}

Result<std::string> compile(const std::string& text, int capability) {
  RETURN_IF_ERROR(load_api());
  bool exact = false;
  ASSIGN_OR_RETURN(std::string target, architecture(capability, exact));
  nvrtcProgram program = nullptr;
  CUDA_CALL(nvrtcCreateProgram, &program, text.c_str(), "kernel.cu", 0, nullptr, nullptr);
  auto owner = own(program, [](nvrtcProgram p) { api().nvrtcDestroyProgram(&p); });
  std::string option = "--gpu-architecture=" + target;
  const char* options[] = {option.c_str(), "--std=c++17"};
  if (auto done = checked("nvrtcCompileProgram", api().nvrtcCompileProgram(program, 2, options));
      !done) {
    ASSIGN_OR_RETURN(std::string log, log_of(program));
    return error(done.error().message + ": " + log);
  }
  size_t size = 0;
  std::string code;
  if (exact) {
    CUDA_CALL(nvrtcGetCUBINSize, program, &size);
    code.resize(size);
    CUDA_CALL(nvrtcGetCUBIN, program, code.data());
  } else {
    CUDA_CALL(nvrtcGetPTXSize, program, &size);
    code.resize(size);
    CUDA_CALL(nvrtcGetPTX, program, code.data());
  }
  return code;
}

Result<cudaDeviceProp> find_device() {
  RETURN_IF_ERROR(load_api());
  int count = 0;
  cudaError_t r = api().cudaGetDeviceCount(&count);
  if (r != cudaSuccess) {
    api().cudaGetLastError();
    return error(std::string("no CUDA device: ") + api().cudaGetErrorString(r));
  }
  if (count == 0) return error("no CUDA device: the driver has none");
  cudaDeviceProp properties{};
  CUDA_CALL(cudaGetDeviceProperties, &properties, 0);
  CUDA_CALL(cudaSetDevice, 0);
  return properties;
}

Result<std::shared_ptr<Session>> Session::open(bool tf32) {
  auto s = std::make_shared<Session>();
  ASSIGN_OR_RETURN(s->properties, find_device());
  s->tf32 = tf32;
  cudaStream_t stream = nullptr;
  CUDA_CALL(cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking);
  s->stream = own(stream, [](cudaStream_t x) { api().cudaStreamDestroy(x); });
  cudnnHandle_t dnn = nullptr;
  CUDA_CALL(cudnnCreate, &dnn);
  s->dnn = own(dnn, [](cudnnHandle_t x) { api().cudnnDestroy(x); });
  CUDA_CALL(cudnnSetStream, dnn, stream);
  cublasLtHandle_t blas = nullptr;
  CUDA_CALL(cublasLtCreate, &blas);
  s->blas = own(blas, [](cublasLtHandle_t x) { api().cublasLtDestroy(x); });
  return s;
}

Result<Function> Session::function(const Source& source) {
  if (auto it = functions_.find(source.name); it != functions_.end()) return it->second;
  static std::map<std::pair<std::string, int>, std::string> compiled;  // by any session
  const int capability = properties.major * 10 + properties.minor;
  std::string& code = compiled[{source.name, capability}];
  if (code.empty()) {
    ASSIGN_OR_RETURN(code, compile(device_text(source), capability));
  }
  cudaLibrary_t library = nullptr;
  CUDA_CALL(cudaLibraryLoadData, &library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  Function f;
  f.code = own(library, [](cudaLibrary_t x) { api().cudaLibraryUnload(x); });
  CUDA_CALL(cudaLibraryGetKernel, &f.kernel, library, source.name.c_str());
  return functions_.emplace(source.name, f).first->second;
}

Status Session::copy(void* to, const void* from, size_t bytes) const {
  CUDA_CALL(cudaMemcpyAsync, to, from, bytes, cudaMemcpyDefault, stream.get());
  return {};
}

Status Session::clear(void* to, size_t bytes) const {
  if (bytes > 0) CUDA_CALL(cudaMemsetAsync, to, 0, bytes, stream.get());
  return {};
}

Status Session::finish() const {
  CUDA_CALL(cudaStreamSynchronize, stream.get());
  return {};
}

}  // namespace regraft::cost::cuda

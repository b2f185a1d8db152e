#pragma once
// A device in use: its stream, library handles, memory and compiled kernels.
#include <map>
#include <memory>
#include <string>
#include <type_traits>

#include "cost/runtime/cuda/api.h"
#include "cost/runtime/cuda/source.h"

namespace regraft::cost::cuda {

/// Owner of a library's object, which is a pointer.
template <class T>
using Handle = std::shared_ptr<std::remove_pointer_t<T>>;
template <class T, class Destroy>
Handle<T> own(T object, Destroy destroy) {
  return Handle<T>(object, [destroy](T x) {
    if (x) destroy(x);
  });
}

/// Device memory, aligned to 256 bytes.
Result<std::shared_ptr<void>> allocate(size_t bytes);

/// Machine code for the device of that compute capability (90 for 9.0), or, when the compiler does
/// not know it, PTX for the nearest below. Needs the compiler but no device.
Result<std::string> compile(const std::string& text, int capability);

/// A device function.
struct Function {
  Handle<cudaLibrary_t> code;
  cudaKernel_t kernel = nullptr;
};

/// The first device that the user makes visible. Not thread-safe.
struct Session {
  cudaDeviceProp properties{};
  bool tf32 = false;
  Handle<cudaStream_t> stream;
  Handle<cudnnHandle_t> dnn;
  Handle<cublasLtHandle_t> blas;

  static Result<std::shared_ptr<Session>> open(bool tf32);
  Result<Function> function(const Source& source);  ///< compiled at most once in a process
  /// Enqueues a copy between host and device. The host's bytes may go as soon as it returns; bytes
  /// that come are there after finish().
  Status copy(void* to, const void* from, size_t bytes) const;
  Status clear(void* to, size_t bytes) const;  ///< enqueues zeros
  Status finish() const;                       ///< waits for all that was enqueued

 private:
  std::map<std::string, Function> functions_;  // by name, which is a hash of the text
};

/// Checks that there is a device; "no CUDA device: <why>".
Result<cudaDeviceProp> find_device();

}  // namespace regraft::cost::cuda

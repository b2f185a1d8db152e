#include "tests/cost/fake_device.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>

#include "tests/cost/reference.h"

#include "tests/cost/fake_libraries.h"

namespace regraft::cost::cuda {
namespace {

// --- the runtime ---

/// An allocation, or an error where a capture forbids it.
cudaError_t allocate_memory(void** p, size_t bytes) {
  if (machine().capturing) return cudaErrorStreamCaptureUnsupported;
  auto* memory = new (std::align_val_t(256)) std::byte[bytes];
  std::memset(memory, 0xff, bytes);
  machine().memory[memory] = bytes;
  ++machine().counts.objects;
  *p = memory;
  return cudaSuccess;
}
cudaError_t free_memory(void* p) {
  machine().memory.erase(static_cast<std::byte*>(p));
  --machine().counts.objects;
  ::operator delete[](p, std::align_val_t(256));
  return cudaSuccess;
}

using Graph = std::vector<Work>;

/// A compiled text: a library of the host, whose kernel runs block by block, one thread each.
struct Library {
  void* handle = nullptr;
};
struct Program {
  std::string text;
};

constexpr const char* kHostLibrary = R"(
static int block_, part_;
static long long clock64() { static long long t; return t += 1000000; }
#undef THREADS
#define THREADS 1
#define KERNEL(name) extern "C" void name
#define TABLE const
#define BLOCK block_
#define PART part_
#define THREAD 0
#define INFINITE __builtin_huge_val()
#define LOWEST (-INFINITE)
inline index floor_div(index a, index b) { return a / b - (a % b < 0); }
inline index place_of(real x, index n) {
  if (!(x >= -n && x < n)) return -1;
  index p = (index)x;
  return (real)p != x ? -1 : p < 0 ? p + n : p;
}
inline real real_exp(real x) { return __builtin_exp(x); }
inline real real_log(real x) { return __builtin_log(x); }
inline real real_tanh(real x) { return __builtin_tanh(x); }
inline real real_sqrt(real x) { return __builtin_sqrt(x); }
inline real real_erf(real x) { return __builtin_erf(x); }
inline real real_sin(real x) { return __builtin_sin(x); }
inline real real_cos(real x) { return __builtin_cos(x); }
inline real real_floor(real x) { return __builtin_floor(x); }
inline real real_trunc(real x) { return __builtin_trunc(x); }
inline real real_round(real x) { return __builtin_rint(x); }
inline real nearest(real x, int bits, int least, double largest) {
  if (!(x - x == 0) || x == 0) return x;
  int exponent = 0;
  __builtin_frexp(x, &exponent);
  exponent = (exponent < least ? least : exponent) - bits;
  real y = __builtin_ldexp(__builtin_nearbyint(__builtin_ldexp(x, -exponent)), exponent);
  return y > largest ? INFINITE : y < -largest ? -INFINITE : y;
}
inline real real_half(real x) { return nearest(x, 11, -13, 65504); }
inline real real_brain(real x) { return nearest(x, 8, -125, 0x1.fep127); }
inline real real_single(real x) { return nearest(x, 24, -125, 0x1.fffffep127); }
inline real block_sum(real x) { return x; }
inline real block_max(real x) { return x; }
)";

/// The text with the device's library replaced, and a function that runs a block.
std::string host_text(std::string text) {
  size_t begin = text.find("\n#define KERNEL(name)");
  const std::string last = "block_max(real x) { return over_block<merge_max>(x); }";
  size_t end = text.find(last) + last.size();
  text.replace(begin, end - begin, kHostLibrary);
  size_t name = text.rfind("KERNEL(") + 7, close = text.find(")(", name);
  std::string call = text.substr(name, close - name) + "(";
  std::string parameters = text.substr(close + 2, text.find(')', close + 2) - close - 2);
  int count = 0;
  for (int k = 0; !parameters.empty(); ++k, ++count) {
    std::string type = parameters.substr(0, parameters.find('*') + 1);
    call += (k ? ", *(" : "*(") + type + "*)args[" + std::to_string(k) + "]";
    size_t comma = parameters.find(", ");
    parameters = comma == parameters.npos ? "" : parameters.substr(comma + 2);
  }
  text += "extern \"C\" { int count = " + std::to_string(count) + "; }\n";
  return text + "extern \"C\" void run_block(int block, int part, void** args) " +
         "{\nblock_ = block, part_ = part;\n" + call + ");\n}\n";
}

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("regraft_fake_" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};

/// The machine code is the path of a library of the host.
nvrtcResult compile_text(nvrtcProgram program, int, const char* const*) {
  static const Folder folder;
  std::string& text = at<Program>(program).text;
  auto stem = folder.path / std::to_string(machine().counts.compilations++);
  std::string source = stem.string() + ".cpp", library = stem.string() + ".so";
  std::ofstream(source) << host_text(text);
  std::string command = std::string(REGRAFT_CXX) + " -std=c++17 -O0 -w -shared -fPIC -o " +
                        library + " " + source + " -lm";
  bool compiled = std::system(command.c_str()) == 0;
  text = library;
  return compiled ? NVRTC_SUCCESS : NVRTC_ERROR_COMPILATION;
}

cudaError_t load_library(cudaLibrary_t* library, const void* code, cudaJitOption*, void**, unsigned,
                         cudaLibraryOption*, void**, unsigned) {
  if (machine().capturing) return cudaErrorStreamCaptureUnsupported;
  const char* path = static_cast<const char*>(code);
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(handle, nullptr) << dlerror();
  *library = make<cudaLibrary_t>(new Library{handle});
  return cudaSuccess;
}

cudaError_t launch_kernel(const void* function, dim3 grid, dim3 block, void** args, size_t,
                          cudaStream_t) {
  EXPECT_LE(block.x, 1024U);
  EXPECT_LE(grid.y, 65535U);
  std::vector<void*> values;  // a launch copies its arguments
  auto run = reinterpret_cast<void (*)(int, int, void**)>(const_cast<void*>(function));
  int count = 0;
  Dl_info info{};
  if (dladdr(function, &info) && args)
    count = *static_cast<int*>(dlsym(dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD), "count"));
  for (int k = 0; k < count; ++k) {
    values.push_back(*static_cast<void**>(args[k]));
    expect_inside(values.back(), 1);
  }
  double milliseconds = 0.002 + 2e-5 * grid.x * block.x;  // no match for a library
  submit(milliseconds, [=]() mutable {
    std::vector<void*> addresses;
    for (void*& v : values) addresses.push_back(&v);
    for (unsigned part = 0; part < grid.y; ++part)
      for (unsigned k = 0; k < grid.x * block.x; ++k)
        run(static_cast<int>(k), static_cast<int>(part), addresses.data());
  });
  return cudaSuccess;
}

// --- the table ---

void add_runtime(Api& a) {
  a.cudaDriverGetVersion = a.cudaRuntimeGetVersion = [](int* v) { return *v = 13000, cudaSuccess; };
  a.cudaGetDeviceCount = [](int* n) { return *n = 1, cudaSuccess; };
  a.cudaGetDeviceProperties = [](cudaDeviceProp* p, int) {
    *p = {};
    std::strcpy(p->name, "fake");
    p->major = 9;
    p->l2CacheSize = 1 << 16;
    return cudaSuccess;
  };
  a.cudaSetDevice = [](int) { return cudaSuccess; };
  a.cudaGetErrorString = [](cudaError_t) { return "fake error"; };
  a.cudaGetLastError = [] { return cudaSuccess; };
  a.cudaMalloc = allocate_memory;
  a.cudaFree = free_memory;
  a.cudaMemcpyAsync = [](void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                         cudaStream_t) {
    if (machine().capturing) return cudaErrorStreamCaptureUnsupported;
    auto covered = [](const void* p, size_t n) {
      auto* address = static_cast<std::byte*>(const_cast<void*>(p));
      auto found = machine().memory.upper_bound(address);
      if (found == machine().memory.begin()) return false;
      --found;
      return address + n <= found->first + found->second;
    };
    EXPECT_EQ(kind, cudaMemcpyDefault);
    EXPECT_TRUE(covered(to, bytes) || covered(from, bytes)) << "beyond an allocation";
    std::memcpy(to, from, bytes);
    return cudaSuccess;
  };
  a.cudaMemsetAsync = [](void* p, int value, size_t bytes, cudaStream_t) {
    expect_inside(p, bytes);
    submit(0.001, [=] { std::memset(p, value, bytes); });
    return cudaSuccess;
  };
  a.cudaStreamCreateWithFlags = [](cudaStream_t* s, unsigned) {
    return *s = make<cudaStream_t>(new Nothing), cudaSuccess;
  };
  a.cudaStreamDestroy = [](cudaStream_t s) { return destroy<Nothing>(s), cudaSuccess; };
  a.cudaStreamSynchronize = [](cudaStream_t) {
    return machine().capturing ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
  };
  a.cudaStreamBeginCapture = [](cudaStream_t, cudaStreamCaptureMode) {
    EXPECT_FALSE(machine().capturing);
    return machine().capturing = true, cudaSuccess;
  };
  a.cudaStreamEndCapture = [](cudaStream_t, cudaGraph_t* g) {
    machine().capturing = false;
    *g = make<cudaGraph_t>(new Graph(std::move(machine().recorded)));
    machine().recorded.clear();
    return cudaSuccess;
  };
  a.cudaGraphInstantiate = [](cudaGraphExec_t* e, cudaGraph_t g, unsigned long long) {
    return *e = make<cudaGraphExec_t>(new Graph(at<Graph>(g))), cudaSuccess;
  };
  a.cudaGraphDestroy = [](cudaGraph_t g) { return destroy<Graph>(g), cudaSuccess; };
  a.cudaGraphExecDestroy = [](cudaGraphExec_t g) { return destroy<Graph>(g), cudaSuccess; };
  a.cudaGraphUpload = [](cudaGraphExec_t, cudaStream_t) { return cudaSuccess; };
  a.cudaGraphLaunch = [](cudaGraphExec_t e, cudaStream_t) {
    ++machine().counts.graph_launches;
    for (const Work& work : at<Graph>(e)) work();
    return cudaSuccess;
  };
  a.cudaEventCreate = [](cudaEvent_t* e) {
    return *e = make<cudaEvent_t>(new double), cudaSuccess;
  };
  a.cudaEventDestroy = [](cudaEvent_t e) { return destroy<double>(e), cudaSuccess; };
  a.cudaEventRecord = [](cudaEvent_t e, cudaStream_t) {
    machine().counts.milliseconds += 0.0005;
    return at<double>(e) = machine().counts.milliseconds, cudaSuccess;
  };
  a.cudaEventElapsedTime = [](float* ms, cudaEvent_t from, cudaEvent_t to) {
    return *ms = static_cast<float>(at<double>(to) - at<double>(from)), cudaSuccess;
  };
}

void add_compiler(Api& a) {
  a.cudaLibraryLoadData = load_library;
  a.cudaLibraryUnload = [](cudaLibrary_t l) {
    dlclose(at<Library>(l).handle);
    return destroy<Library>(l), cudaSuccess;
  };
  a.cudaLibraryGetKernel = [](cudaKernel_t* k, cudaLibrary_t l, const char* name) {
    EXPECT_NE(dlsym(at<Library>(l).handle, name), nullptr);
    *k = reinterpret_cast<cudaKernel_t>(dlsym(at<Library>(l).handle, "run_block"));
    return cudaSuccess;
  };
  a.cudaLaunchKernel = launch_kernel;
  a.nvrtcGetErrorString = [](nvrtcResult) { return "fake error"; };
  a.nvrtcGetNumSupportedArchs = [](int* n) { return *n = 2, NVRTC_SUCCESS; };
  a.nvrtcGetSupportedArchs = [](int* k) { return k[0] = 80, k[1] = 90, NVRTC_SUCCESS; };
  a.nvrtcCreateProgram = [](nvrtcProgram* p, const char* text, const char*, int, const char* const*,
                            const char* const*) {
    return *p = make<nvrtcProgram>(new Program{text}), NVRTC_SUCCESS;
  };
  a.nvrtcDestroyProgram = [](nvrtcProgram* p) { return destroy<Program>(*p), NVRTC_SUCCESS; };
  a.nvrtcCompileProgram = compile_text;
  a.nvrtcGetProgramLogSize = [](nvrtcProgram, size_t* n) { return *n = 1, NVRTC_SUCCESS; };
  a.nvrtcGetProgramLog = [](nvrtcProgram, char* log) { return *log = '\0', NVRTC_SUCCESS; };
  a.nvrtcGetCUBINSize = [](nvrtcProgram p, size_t* n) {
    return *n = at<Program>(p).text.size() + 1, NVRTC_SUCCESS;
  };
  a.nvrtcGetCUBIN = [](nvrtcProgram p, char* code) {
    return std::strcpy(code, at<Program>(p).text.c_str()), NVRTC_SUCCESS;
  };
}

void add_dnn(Api& a) {
  a.cudnnGetVersion = []() -> size_t { return 91900; };
  a.cudnnGetErrorString = [](cudnnStatus_t) { return "fake error"; };
  a.cudnnCreate = [](cudnnHandle_t* h) {
    return *h = make<cudnnHandle_t>(new Nothing), CUDNN_STATUS_SUCCESS;
  };
  a.cudnnDestroy = [](cudnnHandle_t h) { return destroy<Nothing>(h), CUDNN_STATUS_SUCCESS; };
  a.cudnnSetStream = [](cudnnHandle_t, cudaStream_t) { return CUDNN_STATUS_SUCCESS; };
  a.cudnnCreateTensorDescriptor = [](cudnnTensorDescriptor_t* d) {
    return *d = make<cudnnTensorDescriptor_t>(new Dims), CUDNN_STATUS_SUCCESS;
  };
  a.cudnnSetTensorNdDescriptor = [](cudnnTensorDescriptor_t d, cudnnDataType_t type, int n,
                                    const int* dims, const int* strides) {
    EXPECT_EQ(type, CUDNN_DATA_FLOAT);
    EXPECT_GE(n, 4);
    int64_t stride = 1;
    for (int k = n; k-- > 0; stride *= dims[k]) EXPECT_EQ(strides[k], stride);
    return at<Dims>(d).assign(dims, dims + n), CUDNN_STATUS_SUCCESS;
  };
  a.cudnnDestroyTensorDescriptor = [](cudnnTensorDescriptor_t d) {
    return destroy<Dims>(d), CUDNN_STATUS_SUCCESS;
  };
  a.cudnnCreateFilterDescriptor = [](cudnnFilterDescriptor_t* d) {
    return *d = make<cudnnFilterDescriptor_t>(new Dims), CUDNN_STATUS_SUCCESS;
  };
  a.cudnnSetFilterNdDescriptor = [](cudnnFilterDescriptor_t d, cudnnDataType_t,
                                    cudnnTensorFormat_t format, int n, const int* dims) {
    EXPECT_EQ(format, CUDNN_TENSOR_NCHW);
    return at<Dims>(d).assign(dims, dims + n), CUDNN_STATUS_SUCCESS;
  };
  a.cudnnDestroyFilterDescriptor = [](cudnnFilterDescriptor_t d) {
    return destroy<Dims>(d), CUDNN_STATUS_SUCCESS;
  };
  a.cudnnSoftmaxForward = [](cudnnHandle_t, cudnnSoftmaxAlgorithm_t, cudnnSoftmaxMode_t mode,
                             const void*, const cudnnTensorDescriptor_t d, const void* x,
                             const void*, const cudnnTensorDescriptor_t, void* y) {
    const Dims& dims = at<Dims>(d);
    EXPECT_TRUE(mode == CUDNN_SOFTMAX_MODE_CHANNEL || dims[2] * dims[3] == 1);
    expect_inside(x, bytes_of(dims));
    expect_inside(y, bytes_of(dims));
    Softmax s{DType::F32, dims[0], dims[1], dims[2] * dims[3]};
    submit(0.003, [=] {
      execute(s,
              Operands<float>{static_cast<float*>(const_cast<void*>(x)), static_cast<float*>(y)});
    });
    return CUDNN_STATUS_SUCCESS;
  };
}

void add_convolutions(Api& a) {
  a.cudnnCreateConvolutionDescriptor = [](cudnnConvolutionDescriptor_t* d) {
    return *d = make<cudnnConvolutionDescriptor_t>(new Windows), CUDNN_STATUS_SUCCESS;
  };
  a.cudnnDestroyConvolutionDescriptor = [](cudnnConvolutionDescriptor_t d) {
    return destroy<Windows>(d), CUDNN_STATUS_SUCCESS;
  };
  a.cudnnSetConvolutionNdDescriptor = [](cudnnConvolutionDescriptor_t d, int n, const int* pads,
                                         const int* strides, const int* dilations,
                                         cudnnConvolutionMode_t mode, cudnnDataType_t) {
    EXPECT_EQ(mode, CUDNN_CROSS_CORRELATION);
    at<Windows>(d) = {{pads, pads + n}, {strides, strides + n}, {dilations, dilations + n}, 1};
    return CUDNN_STATUS_SUCCESS;
  };
  a.cudnnSetConvolutionGroupCount = [](cudnnConvolutionDescriptor_t d, int group) {
    return at<Windows>(d).group = group, CUDNN_STATUS_SUCCESS;
  };
  a.cudnnSetConvolutionMathType = [](cudnnConvolutionDescriptor_t, cudnnMathType_t math) {
    EXPECT_EQ(math, CUDNN_FMA_MATH);
    return CUDNN_STATUS_SUCCESS;
  };
  a.cudnnCreateActivationDescriptor = [](cudnnActivationDescriptor_t* d) {
    return *d = make<cudnnActivationDescriptor_t>(new cudnnActivationMode_t), CUDNN_STATUS_SUCCESS;
  };
  a.cudnnSetActivationDescriptor = [](cudnnActivationDescriptor_t d, cudnnActivationMode_t mode,
                                      cudnnNanPropagation_t, double) {
    return at<cudnnActivationMode_t>(d) = mode, CUDNN_STATUS_SUCCESS;
  };
  a.cudnnDestroyActivationDescriptor = [](cudnnActivationDescriptor_t d) {
    return destroy<cudnnActivationMode_t>(d), CUDNN_STATUS_SUCCESS;
  };
  a.cudnnGetConvolutionForwardWorkspaceSize = workspace_size;
  a.cudnnConvolutionForward = [](cudnnHandle_t, const void*, const cudnnTensorDescriptor_t dx,
                                 const void* x, const cudnnFilterDescriptor_t dw, const void* w,
                                 const cudnnConvolutionDescriptor_t d,
                                 cudnnConvolutionFwdAlgo_t algorithm, void* workspace, size_t bytes,
                                 const void*, const cudnnTensorDescriptor_t dy, void* y) {
    return convolve(described(dx, dw, d, dy), x, w, nullptr, nullptr, y, algorithm, workspace,
                    bytes);
  };
  a.cudnnConvolutionBiasActivationForward =
      [](cudnnHandle_t, const void*, const cudnnTensorDescriptor_t dx, const void* x,
         const cudnnFilterDescriptor_t dw, const void* w, const cudnnConvolutionDescriptor_t d,
         cudnnConvolutionFwdAlgo_t algorithm, void* workspace, size_t bytes, const void* alpha,
         const cudnnTensorDescriptor_t, const void* z, const cudnnTensorDescriptor_t db,
         const void* bias, const cudnnActivationDescriptor_t after,
         const cudnnTensorDescriptor_t dy, void* y) {
        Convolution c = described(dx, dw, d, dy);
        EXPECT_EQ(at<Dims>(db)[1], c.y[1]);
        c.relu = at<cudnnActivationMode_t>(after) == CUDNN_ACTIVATION_RELU;
        EXPECT_TRUE(c.relu || algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM);
        bool added = *static_cast<const float*>(alpha) != 0;
        return convolve(c, x, w, bias, added ? z : nullptr, y, algorithm, workspace, bytes);
      };
}

void add_blas(Api& a) {
  a.cublasLtGetVersion = []() -> size_t { return 130100; };
  a.cublasLtGetStatusString = [](cublasStatus_t) { return "fake error"; };
  a.cublasLtCreate = [](cublasLtHandle_t* h) {
    return *h = make<cublasLtHandle_t>(new Nothing), CUBLAS_STATUS_SUCCESS;
  };
  a.cublasLtDestroy = [](cublasLtHandle_t h) { return destroy<Nothing>(h), CUBLAS_STATUS_SUCCESS; };
  a.cublasLtMatmulDescCreate = [](cublasLtMatmulDesc_t* d, cublasComputeType_t compute,
                                  cudaDataType_t) {
    EXPECT_EQ(compute, CUBLAS_COMPUTE_32F);
    return *d = make<cublasLtMatmulDesc_t>(new MatmulDesc), CUBLAS_STATUS_SUCCESS;
  };
  a.cublasLtMatmulDescSetAttribute = set_description;
  a.cublasLtMatmulDescDestroy = [](cublasLtMatmulDesc_t d) {
    return destroy<MatmulDesc>(d), CUBLAS_STATUS_SUCCESS;
  };
  a.cublasLtMatrixLayoutCreate = [](cublasLtMatrixLayout_t* d, cudaDataType, uint64_t rows,
                                    uint64_t columns, int64_t leading) {
    auto r = static_cast<int64_t>(rows), c = static_cast<int64_t>(columns);
    return *d = make<cublasLtMatrixLayout_t>(new Layout{r, c, leading, 0, 1}),
           CUBLAS_STATUS_SUCCESS;
  };
  a.cublasLtMatrixLayoutSetAttribute = set_layout;
  a.cublasLtMatrixLayoutDestroy = [](cublasLtMatrixLayout_t d) {
    return destroy<Layout>(d), CUBLAS_STATUS_SUCCESS;
  };
  a.cublasLtMatmulPreferenceCreate = [](cublasLtMatmulPreference_t* p) {
    return *p = make<cublasLtMatmulPreference_t>(new Nothing), CUBLAS_STATUS_SUCCESS;
  };
  a.cublasLtMatmulPreferenceSetAttribute = [](cublasLtMatmulPreference_t,
                                              cublasLtMatmulPreferenceAttributes_t, const void*,
                                              size_t) { return CUBLAS_STATUS_SUCCESS; };
  a.cublasLtMatmulPreferenceDestroy = [](cublasLtMatmulPreference_t p) {
    return destroy<Nothing>(p), CUBLAS_STATUS_SUCCESS;
  };
  a.cublasLtMatmulAlgoGetHeuristic = heuristic;
  a.cublasLtMatmul = matmul;
}

}  // namespace

Api fake_api() {
  Api a;
  add_runtime(a);
  add_compiler(a);
  add_dnn(a);
  add_convolutions(a);
  add_blas(a);
  return a;
}

FakeCounts fake_counts() { return machine().counts; }

}  // namespace regraft::cost::cuda

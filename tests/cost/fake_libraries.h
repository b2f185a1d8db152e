#pragma once
// The device of the tests: its memory and time, and what its libraries compute. For
// fake_device.cpp only.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include "tests/cost/fake_device.h"
#include "tests/cost/reference.h"

namespace regraft::cost::cuda {
namespace {

using Work = std::function<void()>;

struct Machine {
  FakeCounts counts;
  std::map<std::byte*, size_t> memory;
  bool capturing = false;
  std::vector<Work> recorded;
};
Machine& machine() {
  static Machine m;
  return m;
}

/// What a stream is asked to do: now, or when the graph is launched.
void submit(double milliseconds, Work work) {
  Work timed = [milliseconds, work = std::move(work)] {
    machine().counts.milliseconds += milliseconds;
    work();
  };
  if (machine().capturing) {
    machine().recorded.push_back(std::move(timed));
    return;
  }
  ++machine().counts.eager_launches;
  timed();
}

/// Memory of the device that holds so many bytes from here on.
void expect_inside(const void* p, size_t bytes) {
  auto* address = static_cast<std::byte*>(const_cast<void*>(p));
  auto at = machine().memory.upper_bound(address);
  ASSERT_NE(at, machine().memory.begin()) << "not an address of the device";
  --at;
  EXPECT_LE(address + bytes, at->first + at->second) << "beyond the end of an allocation";
  EXPECT_EQ((address - at->first) % 256, 0) << "not aligned";
}
void scribble(void* workspace, size_t bytes) {
  if (bytes == 0) return;
  expect_inside(workspace, bytes);
  std::memset(workspace, 0xff, bytes);
}

template <class T, class Raw>
T make(Raw* object) {
  ++machine().counts.objects;
  return reinterpret_cast<T>(object);
}
template <class Raw, class T>
void destroy(T handle) {
  --machine().counts.objects;
  delete reinterpret_cast<Raw*>(handle);
}
template <class Raw, class T>
Raw& at(T handle) {
  return *reinterpret_cast<Raw*>(const_cast<void*>(static_cast<const void*>(handle)));
}
struct Nothing {};

// --- cuDNN ---

struct Windows {
  std::vector<int> pads, strides, dilations;
  int group = 1;
};
using Dims = std::vector<int>;

cudnnStatus_t workspace_size(cudnnHandle_t, cudnnTensorDescriptor_t, cudnnFilterDescriptor_t,
                             cudnnConvolutionDescriptor_t, cudnnTensorDescriptor_t,
                             cudnnConvolutionFwdAlgo_t algorithm, size_t* bytes) {
  *bytes = 1000 * static_cast<size_t>(algorithm);
  bool listed = algorithm == 0 || algorithm == 1 || algorithm >= 6;
  return listed ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
}

size_t bytes_of(const Dims& d) {
  size_t n = sizeof(float);
  for (int x : d) n *= static_cast<size_t>(x);
  return n;
}

/// Algorithm 6 is the fastest; 7 is listed but refuses.
cudnnStatus_t convolve(Convolution c, const void* x, const void* w, const void* bias,
                       const void* added, void* y, cudnnConvolutionFwdAlgo_t algorithm,
                       void* workspace, size_t bytes) {
  if (algorithm == 7) return CUDNN_STATUS_NOT_SUPPORTED;
  EXPECT_EQ(bytes, 1000 * static_cast<size_t>(algorithm));
  Operands<float> o;
  auto add = [&](const void* p, const Dims& dims) {
    expect_inside(p, bytes_of(dims));
    o.push_back(static_cast<float*>(const_cast<void*>(p)));
  };
  add(x, c.x), add(w, c.w);
  c.bias = bias != nullptr, c.added = added != nullptr;
  if (bias) add(bias, {c.y[1]});
  if (added) add(added, c.y);
  add(y, c.y);
  submit(algorithm == 6 ? 0.01 : 0.02, [=] {
    scribble(workspace, bytes);
    machine().counts.last_convolution = algorithm;
    execute(c, o);
  });
  return CUDNN_STATUS_SUCCESS;
}
Convolution described(cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
                      cudnnConvolutionDescriptor_t d, cudnnTensorDescriptor_t y) {
  const auto& windows = at<Windows>(d);
  Convolution c;
  c.x = at<Dims>(x), c.w = at<Dims>(w), c.y = at<Dims>(y);
  c.pads = windows.pads, c.strides = windows.strides, c.dilations = windows.dilations;
  c.group = windows.group;
  return c;
}

// --- cuBLASLt ---

struct Layout {
  int64_t rows = 0, columns = 0, leading = 0, stride = 0;
  int32_t batch = 1;
  size_t bytes() const {
    return sizeof(float) * static_cast<size_t>((batch - 1) * stride + rows * columns);
  }
};
struct MatmulDesc {
  int32_t first = CUBLAS_OP_N, second = CUBLAS_OP_N, epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  float* bias = nullptr;
};

cublasStatus_t set_description(cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t attribute,
                               const void* value, size_t bytes) {
  auto& m = at<MatmulDesc>(d);
  void* to = attribute == CUBLASLT_MATMUL_DESC_TRANSA         ? static_cast<void*>(&m.first)
             : attribute == CUBLASLT_MATMUL_DESC_TRANSB       ? static_cast<void*>(&m.second)
             : attribute == CUBLASLT_MATMUL_DESC_EPILOGUE     ? static_cast<void*>(&m.epilogue)
             : attribute == CUBLASLT_MATMUL_DESC_BIAS_POINTER ? static_cast<void*>(&m.bias)
                                                              : nullptr;
  EXPECT_NE(to, nullptr);
  EXPECT_EQ(bytes, attribute == CUBLASLT_MATMUL_DESC_BIAS_POINTER ? 8U : 4U);
  std::memcpy(to, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t set_layout(cublasLtMatrixLayout_t d, cublasLtMatrixLayoutAttribute_t attribute,
                          const void* value, size_t bytes) {
  auto& l = at<Layout>(d);
  bool batch = attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT;
  EXPECT_TRUE(batch || attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
  EXPECT_EQ(bytes, batch ? 4U : 8U);
  std::memcpy(batch ? static_cast<void*>(&l.batch) : &l.stride, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t heuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                         cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                         cublasLtMatmulPreference_t, int wanted,
                         cublasLtMatmulHeuristicResult_t* found, int* count) {
  EXPECT_GE(wanted, 2);
  *count = 2;
  for (uint64_t k = 0; k < 2; ++k) {
    found[k] = {};
    found[k].algo.data[0] = k;
    found[k].workspaceSize = 4096 * k;
    found[k].state = CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_SUCCESS;
}

/// D = epilogue(alpha * op(A) * op(B) + beta * C), all by columns, as the library documents it.
struct ColumnProduct {
  MatmulDesc d;
  float alpha, beta;
  const float *a, *b, *c;
  float* result;
  Layout la, lb, lc, lr;

  void run() const {
    int64_t inner = d.first == CUBLAS_OP_N ? la.columns : la.rows;
    for (int32_t batch = 0; batch < lr.batch; ++batch)
      for (int64_t i = 0; i < lr.rows; ++i)
        for (int64_t j = 0; j < lr.columns; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < inner; ++k)
            sum += static_cast<double>(element(a, la, batch, d.first, i, k)) *
                   element(b, lb, batch, d.second, k, j);
          sum *= alpha;
          if (beta != 0) sum += beta * c[batch * lc.stride + i + j * lc.leading];
          if (d.epilogue & CUBLASLT_EPILOGUE_BIAS) sum += d.bias[i];
          if (d.epilogue & CUBLASLT_EPILOGUE_RELU) sum = std::max(sum, 0.0);
          result[batch * lr.stride + i + j * lr.leading] = static_cast<float>(sum);
        }
  }
  static float element(const float* m, const Layout& l, int32_t batch, int32_t op, int64_t i,
                       int64_t j) {
    if (op == CUBLAS_OP_T) std::swap(i, j);
    return m[batch * l.stride + i + j * l.leading];
  }
};

cublasStatus_t matmul(cublasLtHandle_t, cublasLtMatmulDesc_t d, const void* alpha, const void* a,
                      cublasLtMatrixLayout_t la, const void* b, cublasLtMatrixLayout_t lb,
                      const void* beta, const void* c, cublasLtMatrixLayout_t lc, void* result,
                      cublasLtMatrixLayout_t lr, const cublasLtMatmulAlgo_t* algorithm,
                      void* workspace, size_t bytes, cudaStream_t) {
  auto number = [](const void* p) { return *static_cast<const float*>(p); };
  auto floats = [](const void* p) { return static_cast<const float*>(p); };
  ColumnProduct p{at<MatmulDesc>(d),
                  number(alpha),
                  number(beta),
                  floats(a),
                  floats(b),
                  floats(c),
                  static_cast<float*>(result),
                  at<Layout>(la),
                  at<Layout>(lb),
                  at<Layout>(lc),
                  at<Layout>(lr)};
  expect_inside(a, p.la.bytes());
  expect_inside(b, p.lb.bytes());
  expect_inside(c, p.lc.bytes());
  expect_inside(result, p.lr.bytes());
  if (p.d.bias) expect_inside(p.d.bias, sizeof(float) * static_cast<size_t>(p.lr.rows));
  EXPECT_EQ(bytes, 4096 * algorithm->data[0]);
  submit(algorithm->data[0] == 1 ? 0.004 : 0.005, [=] {
    scribble(workspace, bytes);
    p.run();
  });
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace
}  // namespace regraft::cost::cuda

#pragma once
// Steps of a program, ready to run.
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cost/runtime/cuda/lower.h"
#include "cost/runtime/cuda/session.h"

namespace regraft::cost::cuda {

/// One way to do a step.
struct Launch {
  std::string what;      ///< "convolution by algorithm 1"
  size_t workspace = 0;  ///< bytes
  /// Enqueues on the session's stream: device addresses of the reads and writes, aligned to 256
  /// bytes, and of the workspace. Allocates nothing and does not wait, so it may be captured.
  std::function<Status(std::span<void* const> operands, void* workspace)> run;
};

/// All ways that the libraries offer; the session outlives them. May be empty: then the libraries
/// cannot do it.
Result<std::vector<Launch>> prepare(Session& session, const Work& work);

// The parts of prepare.
Result<std::vector<Launch>> prepare_convolution(Session& session, const Convolution& c);
Result<std::vector<Launch>> prepare_product(Session& session, const Product& p);

/// What a library's workspace may take.
constexpr size_t kMaxWorkspace = size_t{256} << 20;

Result<cudnnDataType_t> dnn_type(DType t);
/// A tensor of these dimensions, the last ones contiguous.
Result<Handle<cudnnTensorDescriptor_t>> dnn_tensor(DType t, const std::vector<int>& dims);
/// A factor of a library call on tensors of the type: double for double, else float.
class Scale {
 public:
  Scale(DType t, double x) : wide_(t == DType::F64), d_(x), f_(static_cast<float>(x)) {}
  const void* get() const { return wide_ ? static_cast<const void*>(&d_) : &f_; }

 private:
  bool wide_;
  double d_;
  float f_;
};

}  // namespace regraft::cost::cuda

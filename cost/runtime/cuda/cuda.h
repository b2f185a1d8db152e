#pragma once
// Measurements and whole graphs on a CUDA device, with cuDNN, cuBLASLt and generated kernels. No
// CUDA in this header; the libraries are loaded when first used. Where there is no device, every
// function here is an Error "no CUDA device: <why>". One thread at a time.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "cost/model/kernel.h"
#include "cost/profile/profile.h"
#include "cost/profile/timing.h"

namespace regraft::cost::cuda {

struct Device {
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  std::string driver;        ///< the CUDA version that the driver supports: "13.0"
  std::string libraries;     ///< "CUDA 13.0, cuDNN 9.19.0, cuBLASLt 13.1.0"
  int multiprocessors = 0;
  size_t memory_bytes = 0, cache_bytes = 0;  ///< of the whole device; of its L2
};
Result<Device> device();
/// What timings on that device are filed under.
ProfileKey profile_key(const Device& d);

struct TimingOptions {
  int rounds = 25;      ///< samples of each
  int warm_up = 3;      ///< rounds before them
  bool cold = false;    ///< the L2 cache is flushed before each sample, else what it needs is there
  bool tf32 = false;    ///< products of floats may round their operands to 10 bits
  double seconds = 60;  ///< rounds end when they took this long, but not before the fifth
  const Stop* stop = nullptr;  ///< ends them after the first
};

/// Microseconds on the device for each kernel, with the fastest algorithms found for it. Kernels
/// take turns, so that clocks and temperatures are shared. A kernel that cannot run is an Error of
/// its own.
Result<std::vector<Result<Timing>>> time_kernels(std::span<const Kernel> kernels,
                                                 const TimingOptions& options = {});

/// Rates of the device.
struct Probe {
  double launch_microseconds = 0;        ///< of one empty kernel after another
  double graph_launch_microseconds = 0;  ///< the same within a CUDA graph
  double bandwidth_gbytes = 0;           ///< read and written by a copy that no cache holds
  double peak_gflops = 0;                ///< of a large product of float matrices
};
Result<Probe> probe(const TimingOptions& options = {});

/// A whole graph as one CUDA graph, with buffers reused by lifetimes.
class Executor {
 public:
  struct Options {
    bool tf32 = false;
  };
  /// Finds the fastest algorithms, which takes seconds to minutes. An Error names what cannot run:
  /// an opaque node, or an operator.
  static Result<Executor> compile(const Graph& g, const Options& options);

  /// `inputs` as the graph's, with the types and sizes that it was compiled for.
  Result<std::vector<std::shared_ptr<const Constant>>> run(
      const std::vector<std::shared_ptr<const Constant>>& inputs) const;

  size_t launches() const;      ///< kernels in the CUDA graph
  size_t memory_bytes() const;  ///< device memory: weights, buffers and workspace

 private:
  friend Result<std::vector<Timing>> time_graphs(std::span<const Executor> executors,
                                                 const TimingOptions& options);
  struct State;
  std::shared_ptr<State> state_;
};
/// Microseconds on the device for each whole graph, its inputs being there; they take turns.
Result<std::vector<Timing>> time_graphs(std::span<const Executor> executors,
                                        const TimingOptions& options = {});

}  // namespace regraft::cost::cuda

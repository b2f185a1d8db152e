// In place of the device's files where the program is built without the CUDA toolkit.
#include "cost/runtime/cuda/cuda.h"

namespace regraft::cost::cuda {
namespace {

Error absent() { return error("no CUDA device: this program was built without the CUDA toolkit"); }

}  // namespace

struct Executor::State {};

Result<Device> device() { return absent(); }
Result<std::vector<Result<Timing>>> time_kernels(std::span<const Kernel>, const TimingOptions&) {
  return absent();
}
Result<Probe> probe(const TimingOptions&) { return absent(); }
Result<Executor> Executor::compile(const Graph&, const Options&) { return absent(); }
Result<std::vector<std::shared_ptr<const Constant>>> Executor::run(
    const std::vector<std::shared_ptr<const Constant>>&) const {
  return absent();
}
size_t Executor::launches() const { return 0; }
size_t Executor::memory_bytes() const { return 0; }
Result<std::vector<Timing>> time_graphs(std::span<const Executor>, const TimingOptions&) {
  return absent();
}

}  // namespace regraft::cost::cuda

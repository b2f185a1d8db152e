// In place of the folder's files where the program is built without oneDNN.
#include "cost/runtime/cpu/executor.h"

namespace regraft::cost::cpu {
namespace {

Error absent() { return error("the program was built without oneDNN"); }

}  // namespace

std::string library_version() { return ""; }
int64_t block_width() { return __builtin_cpu_supports("avx512f") != 0 ? 16 : 8; }
std::vector<Result<Timing>> time_kernels(std::span<const Kernel> kernels, const TimeOptions&) {
  return std::vector<Result<Timing>>(kernels.size(), absent());
}

struct Executor::State {
  KernelPlan plan;
};
Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;
Executor::~Executor() = default;
Result<Executor> Executor::compile(const Graph&, const ExecutorOptions&) { return absent(); }
Result<std::vector<Array<float>>> Executor::run(const std::vector<Array<float>>&) {
  return absent();
}
double Executor::time_once(uint64_t) { return 0; }
std::vector<Timing> Executor::time_calls(int) { return {}; }
const KernelPlan& Executor::plan() const { return state_->plan; }
size_t Executor::activation_bytes() const { return 0; }
size_t Executor::weight_bytes() const { return 0; }
Result<std::vector<Timing>> time_graphs(std::span<const Graph* const>, const ExecutorOptions&,
                                        const TimeOptions&) {
  return absent();
}

}  // namespace regraft::cost::cpu

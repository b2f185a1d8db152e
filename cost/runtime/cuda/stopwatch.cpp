// Times on the device. While a kernel spins, the host enqueues all that is timed, so that no gap
// between events is the host's.
#include <algorithm>

#include "cost/runtime/cuda/tune.h"

namespace regraft::cost::cuda {
namespace {

constexpr int kLeastRounds = 5;

/// Waits without touching memory: about 160 microseconds, for the host to call some libraries.
Source spinning() {
  Source s;
  s.name = "spin";
  s.types = "typedef int index;\ntypedef float real;\n#define THREADS 32\n";
  s.body =
      "KERNEL(spin)() {\nlong long start = clock64();\nwhile (clock64() - start < 280000) "
      "{\n}\n}\n";
  return s;
}

Result<Handle<cudaEvent_t>> event() {
  cudaEvent_t raw = nullptr;
  CUDA_CALL(cudaEventCreate, &raw);
  return own(raw, [](cudaEvent_t x) { api().cudaEventDestroy(x); });
}

}  // namespace

bool Rounds::next() {
  std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
  int samples = done_ - options_.warm_up;
  bool late = samples >= kLeastRounds && spent.count() > options_.seconds;
  late = late || (samples >= 1 && options_.stop && options_.stop->must_end());
  if (late || samples >= std::max(options_.rounds, 1)) return false;
  ++done_;
  return true;
}

Result<Stopwatch> Stopwatch::make(Session& session, bool cold) {
  Stopwatch w;
  w.session_ = &session;
  ASSIGN_OR_RETURN(w.begin_, event());
  ASSIGN_OR_RETURN(w.end_, event());
  ASSIGN_OR_RETURN(w.spin_, session.function(spinning()));
  if (cold) {
    w.flush_bytes_ = 2 * static_cast<size_t>(session.properties.l2CacheSize) + (size_t{16} << 20);
    ASSIGN_OR_RETURN(w.flushed_, allocate(w.flush_bytes_));
  }
  std::vector<double> nothing;
  for (int k = 0; k < kLeastRounds; ++k) {
    ASSIGN_OR_RETURN(double x, w.once([] { return Status(); }));
    nothing.push_back(x);
  }
  w.empty_ = summarise(nothing).microseconds;
  return w;
}

Status Stopwatch::before(const Enqueue& work) {
  if (flushed_)
    CUDA_CALL(cudaMemsetAsync, flushed_.get(), 1, flush_bytes_, session_->stream.get());
  else
    RETURN_IF_ERROR(work());
  CUDA_CALL(cudaLaunchKernel, spin_.kernel, dim3(1), dim3(32), nullptr, 0, session_->stream.get());
  return {};
}

Result<double> Stopwatch::once(const Enqueue& work) {
  RETURN_IF_ERROR(before(work));
  CUDA_CALL(cudaEventRecord, begin_.get(), session_->stream.get());
  RETURN_IF_ERROR(work());
  CUDA_CALL(cudaEventRecord, end_.get(), session_->stream.get());
  RETURN_IF_ERROR(session_->finish());
  float milliseconds = 0;
  CUDA_CALL(cudaEventElapsedTime, &milliseconds, begin_.get(), end_.get());
  return 1e3 * static_cast<double>(milliseconds);
}

Result<std::vector<double>> Stopwatch::round(std::span<const Enqueue> work) {
  constexpr double kLeast = 0.05;  // events tell no shorter times apart
  std::vector<double> r;
  for (const Enqueue& w : work) {
    ASSIGN_OR_RETURN(double x, once(w));
    r.push_back(std::max(x - empty_, kLeast));
  }
  return r;
}

Result<std::vector<std::vector<double>>> Stopwatch::rounds(std::span<const Enqueue> work,
                                                           const TimingOptions& options) {
  std::vector<std::vector<double>> samples(work.size());
  Rounds rounds(options);
  while (rounds.next()) {
    ASSIGN_OR_RETURN(auto row, round(work));
    for (size_t item = 0; rounds.counts() && item < row.size(); ++item)
      samples[item].push_back(row[item]);
  }
  return samples;
}

}  // namespace regraft::cost::cuda

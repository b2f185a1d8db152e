#include "cli/measure/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "cli/measure/worker.h"
#include "cost/profile/calibrate.h"
#include "cost/runtime/cpu/executor.h"
#include "cost/runtime/cuda/cuda.h"

namespace regraft::cli {
namespace {

using cost::Kernel;
using cost::Timing;
using Kernels = std::map<std::string, Kernel>;
using Timings = Result<std::vector<Timing>>;

/// What was timed while it was to stop is not to be relied on.
Timings whole(Timings timings, const Stop& stop) {
  if (timings && stop.must_end()) return error("stopped before it was timed");
  return timings;
}

/// Of a kernel for which nothing has to run.
constexpr Timing kNothing{0, 0, 1};

Result<Measurer> start_cpu(int threads, const Stop&, Timed) {
  if (cost::cpu::library_version().empty())
    return error("cpu cannot be measured with: the program was built without oneDNN");
  Measurer m;
  m.key = {"cpu", cost::cpu::library_version(), cost::processor_name(), "", threads};
  m.block = cost::cpu::block_width();
  m.time_kernels = [threads](const Kernels& kernels, double seconds, const Stop& stop) -> Timings {
    std::vector<Kernel> list;
    for (const auto& [signature, kernel] : kernels) list.push_back(kernel);
    cost::cpu::TimeOptions options;
    options.compile.threads = threads;
    options.seconds = seconds;
    options.stop = &stop;
    std::vector<Timing> timings;
    for (const auto& t : cost::cpu::time_kernels(list, options))
      timings.push_back(!t ? Timing() : t->runs == 0 ? kNothing : *t);
    return whole(std::move(timings), stop);
  };
  m.time_graphs = [threads](std::span<const io::Imported>, const std::vector<const Graph*>& graphs,
                            double seconds, const Stop& stop) {
    cost::cpu::ExecutorOptions executor;
    executor.compile.threads = threads;
    cost::cpu::TimeOptions options;
    options.compile = executor.compile;
    options.seconds = seconds;
    options.noise = 0.003;
    options.stop = &stop;
    return whole(cost::cpu::time_graphs(graphs, executor, options), stop);
  };
  return m;
}

Result<Measurer> start_onnxruntime(int threads, const Stop& stop, Timed timed) {
  return start_in_worker("onnxruntime", threads, stop, timed);
}

Result<Measurer> start_openvino(int threads, const Stop& stop, Timed timed) {
  return start_in_worker("openvino", threads, stop, timed);
}

Result<Measurer> start_tensorrt(int, const Stop&, Timed) {
  return error("tensorrt is a description, it cannot be measured");
}

Result<Measurer> start_cuda(int, const Stop&, Timed) {
  ASSIGN_OR_RETURN(auto device, cost::cuda::device());
  Measurer m;
  m.key = cost::cuda::profile_key(device);
  ASSIGN_OR_RETURN(auto probe, cost::cuda::probe());
  m.overhead = probe.graph_launch_microseconds;
  m.time_kernels = [](const Kernels& kernels, double seconds, const Stop& stop) -> Timings {
    std::vector<Kernel> list;
    for (const auto& [signature, kernel] : kernels) list.push_back(kernel);
    cost::cuda::TimingOptions options;
    options.seconds = seconds;
    options.stop = &stop;
    ASSIGN_OR_RETURN(auto found, cost::cuda::time_kernels(list, options));
    std::vector<Timing> timings;
    for (const auto& t : found) timings.push_back(t ? *t : Timing());
    return whole(std::move(timings), stop);
  };
  m.time_graphs = [](std::span<const io::Imported>, const std::vector<const Graph*>& graphs,
                     double seconds, const Stop& stop) -> Timings {
    std::vector<cost::cuda::Executor> executors;
    for (const Graph* g : graphs) {
      ASSIGN_OR_RETURN(auto executor, cost::cuda::Executor::compile(*g, {false}));
      executors.push_back(std::move(executor));
    }
    cost::cuda::TimingOptions options;
    options.seconds = seconds;
    options.rounds = 200;
    options.stop = &stop;
    return whole(cost::cuda::time_graphs(executors, options), stop);
  };
  return m;
}

}  // namespace

Result<Measurer> start_measurer(const std::string& runtime, int threads, const Stop& stop,
                                Timed timed) {
#define REGRAFT_RUNTIME(id, ...) {#id, start_##id},
  static const std::map<std::string_view, decltype(&start_cpu)> kStarts = {
#include "cost/model/runtimes.def"
  };
#undef REGRAFT_RUNTIME
  return kStarts.at(runtime)(threads, stop, timed);
}

namespace {

constexpr size_t kGroup = 16;  // kernels whose timings come together: what a stop may lose

/// Shows each second that time passes while something is measured.
class Ticking {
 public:
  Ticking(const std::string& label, const Patience& p)
      : progress_(label, "s", static_cast<uint64_t>(p.seconds), p.verbosity),
        thread_([this](const std::stop_token& stop) {
          std::mutex mutex;
          std::unique_lock lock(mutex);
          std::condition_variable_any ends;
          while (!ends.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; }) &&
                 !stop.stop_requested())
            progress_.add();
        }) {}
  void note(const std::string& text) { progress_.note(text); }

 private:
  Progress progress_;
  std::jthread thread_;
};

/// A sample of the profile's kernels, even over what they take: where the work is. Kernels of a few
/// microseconds say more of the clock than of the machine.
Kernels sample_of(const cost::Profile& profile) {
  constexpr size_t kCount = 12;
  constexpr double kLeast = 20;  // microseconds
  std::vector<std::pair<double, std::string_view>> sorted;
  for (const auto& [signature, t] : profile.kernels)
    if (t.microseconds >= kLeast) sorted.emplace_back(t.microseconds, signature);
  std::ranges::sort(sorted);
  Kernels sample;
  for (size_t k = 0; k < std::min(kCount, sorted.size()); ++k) {
    std::string signature(sorted[k * sorted.size() / std::min(kCount, sorted.size())].second);
    if (auto kernel = cost::parse_signature(signature)) sample.emplace(signature, *kernel);
  }
  return sample;
}

}  // namespace

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Status check_spread(cost::Profile& profile, const Measurer& measurer, double seconds,
                    const Stop& stop) {
  profile.spread.reset();
  Kernels sample = sample_of(profile);
  std::map<std::string, Timing, std::less<>> again;
  if (!sample.empty() && !stop.must_end()) {
    auto timings = measurer.time_kernels(sample, seconds, stop);
    if (!timings && !stop.must_end()) return timings.error();
    size_t k = 0;
    for (const auto& [signature, kernel] : sample)
      if (timings) again[signature] = (*timings)[k++];
  }
  set_spread(profile, again);
  return {};
}

Result<size_t> complete(cost::Profile& profile, const Kernels& wanted, const Measurer& measurer,
                        const Patience& patience) {
  std::vector<std::pair<std::string, Kernel>> missing;
  for (const auto& k : wanted)
    if (!profile.kernels.count(k.first)) missing.push_back(k);
  if (missing.empty()) return size_t{0};
  constexpr double kShareOfSpread = 0.15;  // of the time
  const double seconds = (1 - kShareOfSpread) * patience.seconds;
  auto start = std::chrono::steady_clock::now();
  Ticking ticking("measure", patience);
  size_t added = 0;
  for (size_t done = 0; done < missing.size() && !patience.stop.must_end();) {
    size_t count = std::min(kGroup, missing.size() - done);
    auto first = missing.begin() + static_cast<std::ptrdiff_t>(done);
    Kernels group(first, first + static_cast<std::ptrdiff_t>(count));
    double left = std::max(seconds - seconds_since(start), 0.0);
    double share = left * static_cast<double>(count) / static_cast<double>(missing.size() - done);
    auto timings = measurer.time_kernels(group, share, patience.stop);
    if (!timings && patience.stop.must_end()) break;
    if (!timings) return timings.error();
    size_t k = 0;
    for (const auto& [signature, kernel] : group) {
      const Timing& t = (*timings)[k++];
      if (t.runs > 0 && profile.kernels.emplace(signature, t).second) ++added;
    }
    done += count;
    if (patience.keep && done < missing.size()) RETURN_IF_ERROR(patience.keep());
    ticking.note(fmt::format("{} of {} kernels", done, missing.size()));
  }
  profile.block = measurer.block;
  if (measurer.overhead > 0) profile.overhead = measurer.overhead;
  RETURN_IF_ERROR(
      check_spread(profile, measurer, kShareOfSpread * patience.seconds, patience.stop));
  cost::calibrate(profile);
  return added;
}

Timings time_models(const Measurer& measurer, std::span<const io::Imported> models,
                    const std::vector<const Graph*>& graphs, const Patience& patience) {
  Ticking ticking("measure", patience);
  return measurer.time_graphs(models, graphs, patience.seconds, patience.stop);
}

}  // namespace regraft::cli

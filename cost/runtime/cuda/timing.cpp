#include <fmt/format.h>

#include <algorithm>

#include "cost/runtime/cuda/tune.h"
#include "ir/rule/text.h"

namespace regraft::cost::cuda {

Result<Device> device() {
  ASSIGN_OR_RETURN(cudaDeviceProp p, find_device());
  int driver = 0, runtime = 0;
  CUDA_CALL(cudaDriverGetVersion, &driver);
  CUDA_CALL(cudaRuntimeGetVersion, &runtime);
  auto dnn = static_cast<int>(api().cudnnGetVersion());
  auto blas = static_cast<int>(api().cublasLtGetVersion());
  auto version = [](int v) { return fmt::format("{}.{}", v / 1000, v % 1000 / 10); };
  Device d;
  d.name = p.name;
  d.major = p.major, d.minor = p.minor;
  d.driver = version(driver);
  d.libraries =
      fmt::format("CUDA {}, cuDNN {}.{}.{}, cuBLASLt {}.{}.{}", version(runtime), dnn / 10000,
                  dnn / 100 % 100, dnn % 100, blas / 10000, blas / 100 % 100, blas % 100);
  d.multiprocessors = p.multiProcessorCount;
  d.memory_bytes = p.totalGlobalMem;
  d.cache_bytes = static_cast<size_t>(p.l2CacheSize);
  return d;
}

namespace {

Result<Chosen> tuned(Session& session, Scratch& scratch, const Kernel& kernel) {
  auto blocked = [](Layout l) { return l == Layout::Blocked; };
  if (std::any_of(kernel.operand_layouts.begin(), kernel.operand_layouts.end(), blocked) ||
      std::any_of(kernel.result_layouts.begin(), kernel.result_layouts.end(), blocked))
    return error("cuda: there is no blocked layout");
  return tune(session, scratch, kernel);
}

/// Samples of what was chosen; all share the scratch.
Result<std::vector<std::vector<double>>> measure(Session& session, Scratch& scratch,
                                                 const std::vector<Chosen>& chosen,
                                                 const TimingOptions& options) {
  std::vector<Placement> placements;
  RETURN_IF_ERROR(lay_out(session, scratch, chosen, placements));
  std::vector<Stopwatch::Enqueue> work;
  for (size_t k = 0; k < chosen.size(); ++k)
    work.push_back([&, k] { return enqueue(chosen[k], placements[k], scratch.data()); });
  ASSIGN_OR_RETURN(Stopwatch watch, Stopwatch::make(session, options.cold));
  return watch.rounds(work, options);
}

}  // namespace

Result<std::vector<Result<Timing>>> time_kernels(std::span<const Kernel> kernels,
                                                 const TimingOptions& options) {
  ASSIGN_OR_RETURN(auto session, Session::open(options.tf32));
  Scratch scratch(*session);
  std::vector<Result<Timing>> timings;
  std::vector<Chosen> chosen;
  std::vector<size_t> numbers;
  for (size_t k = 0; k < kernels.size(); ++k) {
    auto c = tuned(*session, scratch, kernels[k]);
    timings.push_back(c ? Result<Timing>(Timing()) : Result<Timing>(c.error()));
    if (!c) continue;
    chosen.push_back(*std::move(c));
    numbers.push_back(k);
  }
  ASSIGN_OR_RETURN(auto samples, measure(*session, scratch, chosen, options));
  for (size_t k = 0; k < chosen.size(); ++k) timings[numbers[k]] = summarise(samples[k]);
  return timings;
}

namespace {

constexpr int kLaunches = 100;

/// Microseconds of one of many empty kernels.
Result<double> launch_time(Session& session, Stopwatch& watch, bool in_graph,
                           const TimingOptions& options) {
  Source s;
  s.name = "nothing";
  s.types = "typedef int index;\ntypedef float real;\n#define THREADS 32\n";
  s.body = "KERNEL(nothing)() {}\n";
  ASSIGN_OR_RETURN(auto launches, prepare(session, s));
  auto all = [&]() -> Status {
    for (int k = 0; k < kLaunches; ++k) RETURN_IF_ERROR(launches[0].run({}, nullptr));
    return {};
  };
  std::vector<Stopwatch::Enqueue> work{all};
  Handle<cudaGraphExec_t> graph;
  if (in_graph) {
    ASSIGN_OR_RETURN(graph, capture(session, all));
    work[0] = [&] { return launch(session, graph); };
  }
  ASSIGN_OR_RETURN(auto samples, watch.rounds(work, options));
  return summarise(samples[0]).microseconds / kLaunches;
}

Result<double> kernel_time(Session& session, Scratch& scratch, std::string_view text,
                           const TimingOptions& options) {
  auto g = parse_graph(text);
  CHECK(g.has_value());
  Kernel kernel;
  kernel.graph = *std::move(g);
  ASSIGN_OR_RETURN(Chosen c, tune(session, scratch, kernel));
  ASSIGN_OR_RETURN(auto samples, measure(session, scratch, {c}, options));
  return summarise(samples[0]).microseconds;
}

}  // namespace

Result<Probe> probe(const TimingOptions& options) {
  ASSIGN_OR_RETURN(auto session, Session::open(options.tf32));
  ASSIGN_OR_RETURN(Stopwatch watch, Stopwatch::make(*session, false));
  Scratch scratch(*session);
  Probe p;
  ASSIGN_OR_RETURN(p.launch_microseconds, launch_time(*session, watch, false, options));
  ASSIGN_OR_RETURN(p.graph_launch_microseconds, launch_time(*session, watch, true, options));
  constexpr double kElements = 1 << 26, kSide = 4096;
  TimingOptions cold = options;
  cold.cold = true;
  ASSIGN_OR_RETURN(double copy, kernel_time(*session, scratch,
                                            "%0 = input : float32[67108864]\n%1 = relu %0\n"
                                            "outputs %1\n",
                                            cold));
  p.bandwidth_gbytes = 8 * kElements / copy * 1e-3;
  ASSIGN_OR_RETURN(double product,
                   kernel_time(*session, scratch,
                               "%0 = input : float32[4096,4096]\n%1 = input : float32[4096,4096]\n"
                               "%2 = matmul %0 %1\noutputs %2\n",
                               options));
  p.peak_gflops = 2 * kSide * kSide * kSide / product * 1e-3;
  return p;
}

}  // namespace regraft::cost::cuda

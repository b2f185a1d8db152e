#include "cost/runtime/cpu/timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>

#include "base/rng.h"
#include "cost/runtime/cpu/program.h"
#include "cost/runtime/cpu/stopwatch.h"

namespace regraft::cost::cpu {

namespace {

using Clock = std::chrono::steady_clock;

/// A kernel with operands in buffers that all kernels share, as a model's do.
class Bench {
 public:
  Bench(Compiled kernel, std::span<float* const> operands, std::span<float* const> results,
        float* scratch, const float* pattern)
      : kernel_(std::move(kernel)),
        operands_(operands.begin(), operands.end()),
        pattern_(pattern),
        launch_(kernel_, operands, aliased(results), scratch) {}

  double microseconds() {
    for (size_t k = 0; k < operands_.size(); ++k) std::memcpy(operands_[k], pattern_, bytes(k));
    Stopwatch watch(kernel_.program().threads);
    launch_.run();
    return watch.microseconds();
  }

 private:
  size_t bytes(size_t operand) const {
    return kernel_.program().slots[operand].desc.get_size();  // operands are the first slots
  }
  /// Results in the buffers of the operands that they may share.
  std::vector<float*> aliased(std::span<float* const> results) const {
    std::vector<float*> at(results.begin(), results.end());
    for (size_t k = 0; k < kernel_.results(); ++k)
      if (int a = kernel_.alias(k); a >= 0) at[k] = operands_[static_cast<size_t>(a)];
    if (int a = kernel_.accumulator(); a >= 0) at[0] = operands_[static_cast<size_t>(a)];
    return at;
  }

  Compiled kernel_;
  std::vector<float*> operands_;
  const float* pattern_;
  Launch launch_;
};

/// Buffers large enough for the k-th operand, or result, of any kernel.
class Pool {
 public:
  void want(size_t k, size_t floats) {
    if (sizes_.size() <= k) sizes_.resize(k + 1, 0);
    sizes_[k] = std::max(sizes_[k], floats);
  }
  std::vector<float*> get() {
    std::vector<float*> at;
    for (size_t k = 0; k < sizes_.size(); ++k) {
      if (buffers_.size() <= k) buffers_.push_back(std::make_unique<Buffer>(sizes_[k]));
      at.push_back(buffers_[k]->data());
    }
    return at;
  }
  size_t largest() const {
    return sizes_.empty() ? 0 : *std::max_element(sizes_.begin(), sizes_.end());
  }

 private:
  std::vector<size_t> sizes_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

struct Pools {
  Pool operands, results, scratch;
  void want(const Compiled& c) {
    for (size_t k = 0; k < c.operands(); ++k)
      operands.want(k, c.program().floats(static_cast<int>(k)));
    for (size_t k = 0; k < c.results(); ++k) {
      const auto& r = c.program().result_types[k];
      results.want(k, tensor_floats(r.shape, r.layout));
    }
    scratch.want(0, c.scratch_floats());
  }
};

std::vector<float> random_pattern(size_t floats, uint64_t seed) {
  Rng rng(seed);
  std::vector<float> all(floats);
  for (float& x : all) x = static_cast<float>(2 * rng.unit() - 1);
  return all;
}

}  // namespace

std::vector<Timing> interleaved(std::span<const std::function<double()>> run,
                                const TimeOptions& options) {
  auto start = Clock::now();
  auto spent = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  auto stopped = [&] { return options.stop && options.stop->must_end(); };
  std::vector<std::vector<double>> times(run.size());
  std::vector<char> known(run.size(), 0);
  for (int k = 0; k < options.warm_up; ++k)
    for (const auto& once : run)
      if (!stopped()) once();
  for (int round = 0; round < options.most_runs && !stopped(); ++round) {
    if (round >= options.least_runs && spent() > options.seconds) break;
    bool all = true;
    for (size_t k = 0; k < run.size() && !stopped(); ++k) {
      if (known[k]) continue;
      times[k].push_back(run[k]());
      if (round + 1 >= options.least_runs && round % 8 == 7)
        known[k] = summarise(times[k]).noise <= options.noise;
      all = all && known[k];
    }
    if (all) break;
  }
  std::vector<Timing> timings;
  for (auto& t : times) timings.push_back(summarise(std::move(t)));
  return timings;
}

namespace {

using Ready = std::vector<std::pair<size_t, Compiled>>;  // with the number of the kernel

void time_ready(Ready ready, const TimeOptions& options, std::vector<Result<Timing>>& results) {
  Pools pools;
  for (auto& [k, compiled] : ready) pools.want(compiled);
  std::vector<float> pattern = random_pattern(pools.operands.largest(), options.seed);
  auto operands = pools.operands.get(), into = pools.results.get(), scratch = pools.scratch.get();
  std::vector<std::shared_ptr<Bench>> benches;
  std::vector<std::function<double()>> run;
  for (auto& [k, compiled] : ready) {
    size_t arity = compiled.operands();
    benches.push_back(std::make_shared<Bench>(std::move(compiled), std::span(operands).first(arity),
                                              into, scratch[0], pattern.data()));
    run.push_back([b = benches.back()] { return b->microseconds(); });
  }
  auto timings = interleaved(run, options);
  for (size_t k = 0; k < ready.size(); ++k) results[ready[k].first] = timings[k];
}

size_t packed_floats(const Compiled& kernel) {
  size_t total = 0;
  for (const auto& b : kernel.program().packed) total += b ? b->size() : 0;
  return total;
}

}  // namespace

std::vector<Result<Timing>> time_kernels(std::span<const Kernel> kernels,
                                         const TimeOptions& options) {
  constexpr size_t kMostFloats = size_t{1} << 28;  // of weights at a time
  std::vector<Result<Timing>> results;
  Ready ready;
  size_t floats = 0;
  auto flush = [&] {
    TimeOptions part = options;
    part.seconds *= static_cast<double>(ready.size()) / static_cast<double>(kernels.size());
    if (!ready.empty()) time_ready(std::move(ready), part, results);
    ready.clear();
    floats = 0;
  };
  auto stopped = [&] { return options.stop && options.stop->must_end(); };
  for (size_t k = 0; k < kernels.size(); ++k) {
    if (stopped()) {
      results.push_back(error("stopped before it was timed"));
      continue;
    }
    auto compiled = compile(kernels[k], options.seed, options.compile);
    if (compiled)
      results.push_back(Timing{});
    else
      results.push_back(compiled.error());
    if (!compiled || compiled->is_free()) continue;
    floats += packed_floats(*compiled);
    ready.emplace_back(k, *std::move(compiled));
    if (floats > kMostFloats) flush();
  }
  flush();
  return results;
}

Timing launch_overhead(const TimeOptions& options) {
  Graph g;
  Value x = g.add_input({DType::F32, Shape{Poly(1)}});
  auto relu = g.add_call(*find_op("relu"), {x}, {});
  CHECK(relu.has_value());
  g.set_outputs({{*relu, 0}});
  Kernel one{std::move(g), {0}, {Layout::Plain}, {Layout::Plain}};
  auto t = time_kernels(std::span(&one, 1), options);
  CHECK(t[0].has_value());
  return *t[0];
}

std::string library_version() {
  const dnnl_version_t* v = dnnl_version();
  return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
         std::to_string(v->patch);
}

}  // namespace regraft::cost::cpu

#include "cost/profile/calibrate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace regraft::cost {
namespace {

/// A measured kernel as the roofline sees it.
struct Sample {
  double flops = 0, bytes = 0, microseconds = 0;
};
using Samples = std::array<std::vector<Sample>, static_cast<size_t>(Kind::kCount)>;

Samples samples_of(const Profile& p) {
  Samples samples;
  for (const auto& [text, timing] : p.kernels) {
    auto kernel = parse_signature(text);
    // Of operators that this program does not know; or the runtime does nothing.
    if (!kernel || timing.microseconds <= 0) continue;
    Cost c = estimate(p.machine, *kernel);
    samples[static_cast<size_t>(kind_of(*kernel))].push_back(
        {c.flops, c.bytes, timing.microseconds});
  }
  return samples;
}

/// Powers of 2^(1/4).
constexpr int kSteps = 80;
double rate(double least, int step) { return least * std::exp2(step / 4.0); }

double error_of(const std::vector<Sample>& samples, double launch, const Rate& r) {
  double sum = 0;
  for (const Sample& s : samples) {
    double t = launch + std::max(s.flops / (r.gflops * 1e3), s.bytes / (r.gbytes * 1e3));
    sum += std::abs(std::log(t / s.microseconds));
  }
  return sum;
}

/// The lowest rates among equally good ones: what no kernel reaches says nothing.
Rate fit(const std::vector<Sample>& samples, double launch) {
  constexpr double kLeastFlops = 0.25, kLeastBytes = 0.0625;
  Rate best{rate(kLeastFlops, kSteps), rate(kLeastBytes, kSteps)};
  double least = error_of(samples, launch, best);
  for (int f = 0; f < kSteps; ++f)
    for (int b = 0; b < kSteps; ++b) {
      Rate r{rate(kLeastFlops, f), rate(kLeastBytes, b)};
      double e = error_of(samples, launch, r);
      if (e < least - 1e-9) {
        least = e;
        best = r;
      }
    }
  return best;
}

void set_general(Machine& m, const Samples& samples) {
  std::vector<double> bandwidths;
  double peak = 0;
  for (size_t k = 0; k < samples.size(); ++k) {
    if (samples[k].empty()) continue;
    bool arithmetic = std::any_of(samples[k].begin(), samples[k].end(),
                                  [](const Sample& s) { return s.flops > 0; });
    if (arithmetic) peak = std::max(peak, m.rates[k].gflops);
    bandwidths.push_back(m.rates[k].gbytes);
  }
  if (peak > 0) m.peak_gflops = peak;
  m.bandwidth_gbytes = median(bandwidths);
}

// Graphs of one call, for probes.

std::shared_ptr<const Constant> unread(std::vector<int64_t> dims) {
  auto read = [](const Constant::Visit&) { return Status(error("a probe has no data")); };
  return std::make_shared<const Constant>(DType::F32, std::move(dims), read);
}

Shape shape_of(const std::vector<int64_t>& dims) { return Shape(dims.begin(), dims.end()); }

using Dims = std::vector<int64_t>;
using Ints = std::map<std::string_view, Dims>;

/// `operands` of rank 0 are none; the last `weights` of them are constants.
Graph call(std::string_view name, const std::vector<Dims>& operands, size_t weights,
           const Ints& ints) {
  const OpDef& op = *find_op(name);
  Graph g;
  std::vector<Value> values;
  for (size_t k = 0; k < operands.size(); ++k)
    values.push_back(k + weights >= operands.size()
                         ? g.add_constant(unread(operands[k]))
                         : g.add_input({DType::F32, shape_of(operands[k])}));
  Attrs<Poly> attrs;
  for (const IntAttr& a : op.ints) {
    auto given = ints.find(a.name);
    auto length = attr_length(a, static_cast<int>(operands[0].size()));
    attrs.ints.push_back(given != ints.end()
                             ? shape_of(given->second)
                             : std::vector<Poly>(length.value_or(0), Poly(a.fallback.value_or(0))));
  }
  for (const RealAttr& a : op.reals) attrs.reals.push_back({a.fallback, nullptr});
  auto id = g.add_call(op, std::move(values), std::move(attrs));
  CHECK(id.has_value());
  std::vector<Value> outputs;
  for (size_t k = 0; k < g.node(*id).types.size(); ++k)
    outputs.push_back({*id, static_cast<int32_t>(k)});
  g.set_outputs(std::move(outputs));
  return g;
}

Graph conv(int64_t in, int64_t out, int64_t size, int64_t kernel, int64_t stride, int64_t group) {
  int64_t pad = kernel / 2;
  return call("conv", {{1, in, size, size}, {out, in / group, kernel, kernel}, {out}}, 2,
              {{"strides", {stride, stride}}, {"pads", {pad, pad, pad, pad}}, {"group", {group}}});
}

Graph pool(std::string_view name, int64_t channels, int64_t size, int64_t kernel, int64_t stride) {
  int64_t pad = stride == 1 ? kernel / 2 : 0;
  return call(name, {{1, channels, size, size}}, 0,
              {{"kernel", {kernel, kernel}},
               {"strides", {stride, stride}},
               {"pads", {pad, pad, pad, pad}}});
}

std::vector<Graph> convolutions() {
  return {
      conv(64, 64, 56, 3, 1, 1),    conv(128, 128, 28, 3, 1, 1),   conv(256, 256, 14, 3, 1, 1),
      conv(3, 64, 224, 7, 2, 1),    conv(16, 16, 14, 3, 1, 1),     conv(64, 256, 56, 1, 1, 1),
      conv(512, 128, 28, 1, 1, 1),  conv(1024, 256, 14, 1, 1, 1),  conv(16, 16, 7, 1, 1, 1),
      conv(96, 96, 56, 3, 1, 96),   conv(384, 384, 14, 3, 1, 384), conv(192, 192, 28, 3, 2, 192),
      conv(128, 128, 28, 3, 1, 32), conv(256, 256, 14, 3, 1, 32),  conv(128, 128, 28, 3, 1, 4),
      conv(256, 256, 14, 3, 1, 16), conv(192, 192, 28, 3, 1, 8)};
}

std::vector<Graph> products() {
  return {call("matmul", {{1, 128, 768}, {768, 768}}, 1, {}),
          call("matmul", {{1, 128, 768}, {768, 3072}}, 1, {}),
          call("matmul", {{1, 12, 128, 64}, {1, 12, 64, 128}}, 0, {}),
          call("matmul", {{1, 12, 128, 128}, {1, 12, 128, 64}}, 0, {}),
          call("matmul", {{1, 16, 16}, {16, 16}}, 1, {}),
          call("gemm", {{1, 2048}, {2048, 1000}, {1000}}, 2, {}),
          call("gemm", {{128, 1024}, {1024, 256}, {256}}, 2, {})};
}

std::vector<Graph> light_calls() {
  Dims image{1, 64, 56, 56}, wide{1, 256, 56, 56}, text{1, 128, 768}, small{1, 16, 7, 7};
  return {pool("maxpool", 64, 112, 3, 2),
          pool("avgpool", 256, 28, 2, 2),
          pool("avgpool", 192, 35, 3, 1),
          call("global-avgpool", {{1, 2048, 7, 7}}, 0, {}),
          call("relu", {image}, 0, {}),
          call("relu", {small}, 0, {}),
          call("add", {wide, wide}, 0, {}),
          call("mul", {text, {768}}, 1, {}),
          call("erf", {{1, 128, 3072}}, 0, {}),
          call("sigmoid", {image}, 0, {}),
          call("tanh", {text}, 0, {}),
          call("softmax", {{1, 12, 128, 128}}, 0, {{"axis", {-1}}}),
          call("layernorm", {text, {768}, {768}}, 2, {{"axis", {-1}}}),
          call("reduce-mean", {text}, 0, {{"axes", {-1}}, {"keepdims", {1}}}),
          call("reduce-mean", {image}, 0, {{"axes", {2, 3}}, {"keepdims", {1}}}),
          call("transpose", {{1, 128, 12, 64}}, 0, {{"perm", {0, 2, 1, 3}}}),
          call("transpose", {image}, 0, {{"perm", {0, 2, 3, 1}}}),
          call("concat", {image, image}, 0, {{"axis", {1}}}),
          call("concat", {text, text}, 0, {{"axis", {-1}}}),
          call("split", {wide}, 0, {{"axis", {1}}, {"sizes", {128, 128}}}),
          call("reshape", {text}, 0, {{"shape", {1, 128, 12, 64}}}),
          call("resize-nearest", {{1, 64, 28, 28}}, 0, {{"factors", {2, 2}}})};
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Seconds of the fastest of several runs.
template <class Work>
double fastest(Work&& work) {
  double least = INFINITY;
  for (int k = 0; k < 7; ++k) {
    auto start = std::chrono::steady_clock::now();
    work();
    least = std::min(least, seconds_since(start));
  }
  return least;
}

double bandwidth_gbytes() {
  std::vector<float> from(size_t{16} << 20, 1.F), to(from.size());
  double s = fastest([&] { std::copy(from.begin(), from.end(), to.begin()); });
  return 2 * static_cast<double>(from.size() * sizeof(float)) / s * 1e-9;
}

/// Independent multiply-adds on lanes that the compiler makes vectors of.
double peak_gflops() {
  constexpr size_t kLanes = 128, kRounds = 1 << 16;
  std::array<float, kLanes> x{}, y{};
  y.fill(1e-6F);
  volatile float sink = 0;
  double s = fastest([&] {
    for (size_t k = 0; k < kRounds; ++k)
      for (size_t lane = 0; lane < kLanes; ++lane) x[lane] = x[lane] * 0.999F + y[lane];
    sink = std::accumulate(x.begin(), x.end(), 0.F);
  });
  return 2.0 * kLanes * kRounds / s * 1e-9;
}

}  // namespace

void calibrate(Profile& p) {
  Samples samples = samples_of(p);
  double launch = INFINITY;
  for (const auto& list : samples)
    for (const Sample& s : list) launch = std::min(launch, s.microseconds);
  if (!std::isfinite(launch)) return;
  p.machine.launch_microseconds = 0.9 * launch;
  for (size_t k = 0; k < samples.size(); ++k)
    p.machine.rates[k] =
        samples[k].empty() ? Rate() : fit(samples[k], p.machine.launch_microseconds);
  set_general(p.machine, samples);
  p.calibrated = true;
}

std::map<std::string, Kernel> probe_kernels(const Runtime& runtime) {
  std::map<std::string, Kernel> kernels;
  for (const auto& graphs : {convolutions(), products(), light_calls()})
    for (const Graph& g : graphs)
      for (auto& c : plan_kernels(g, runtime).calls)
        kernels.emplace(c.signature, normalised(std::move(c.kernel)));
  return kernels;
}

Machine probe_machine() {
  Machine m;
  m.bandwidth_gbytes = bandwidth_gbytes();
  m.peak_gflops = peak_gflops();
  return m;
}

double median_error(const Machine& machine, const Profile& profile) {
  std::vector<double> factors;
  for (const auto& [text, timing] : profile.kernels)
    if (auto kernel = parse_signature(text); kernel && timing.microseconds > 0) {
      double factor = estimate(machine, *kernel).microseconds / timing.microseconds;
      factors.push_back(std::max(factor, 1 / factor));
    }
  return factors.empty() ? 1 : median(factors);
}

}  // namespace regraft::cost

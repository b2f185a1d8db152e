// What the stages of the generator cost: one evaluation, one inner product, whole enumerations.
//   build/release/bench/gen_bench --benchmark_filter=Enumerate
#include <benchmark/benchmark.h>

#include <cmath>

#include "base/rng.h"
#include "gen/enumerate/enumerate.h"
#include "gen/enumerate/modular.h"

namespace regraft::gen {
namespace {

constexpr int kTrials = 4;

std::vector<uint64_t> residues(size_t n, uint64_t seed) {
  Rng rng(seed);
  std::vector<uint64_t> r;
  for (size_t k = 0; k < n; ++k) r.push_back(rng.below(Residue::kPrime));
  return r;
}

void BM_InnerProduct(benchmark::State& state) {
  auto n = static_cast<size_t>(state.range(0));
  auto a = residues(n, 1), b = residues(n, 2);
  for (auto _ : state) benchmark::DoNotOptimize(dot_p(a, b));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_InnerProduct)->Arg(24)->Arg(96)->Arg(192);

/// One call on random operands of 1x2x3x4 and, with two operands, 2x2x3x3.
void evaluate(benchmark::State& state, const Instance& instance) {
  auto label = label_of(instance);
  CHECK(label);
  std::vector<Dims> shapes = {{1, 2, 3, 4}, {2, 2, 3, 3}};
  shapes.resize(instance.operands.size());
  auto kernel = Kernel::compile(*label, shapes, {1, 2, 3, 4}, 0);
  CHECK(kernel);
  std::vector<Values> operands(shapes.size());
  std::vector<View> views;
  for (size_t k = 0; k < shapes.size(); ++k) {
    operands[k].v = residues((k == 0 ? 24 : 36) * kTrials, k);
    for (uint64_t x : operands[k].v)
      operands[k].r.push_back(std::ldexp(static_cast<double>(x), -60) - 1);
    views.push_back(operands[k].view());
  }
  Field algebra;
  Kernel::Scratch scratch;
  Values out;
  for (auto _ : state) {
    bool defined = kernel->evaluate(views, kTrials, Channels::Plain, algebra, scratch, out);
    benchmark::DoNotOptimize(defined);
  }
}
void BM_Convolution(benchmark::State& state) {
  evaluate(state, {"conv", "strides=1,1 pads=1,1,1,1 dilations=1,1 group=1", {".a34", ".a33"}});
}
BENCHMARK(BM_Convolution);
void BM_MaxPool(benchmark::State& state) {
  evaluate(state, {"maxpool", "kernel=3,3 strides=1,1 pads=1,1,1,1 dilations=1,1", {"..34"}});
}
BENCHMARK(BM_MaxPool);

void BM_Enumerate(benchmark::State& state) {
  const Grammar grammar = find_op_set("taso")->grammars[0];
  EnumerateCounts counts;
  for (auto _ : state) {
    ShapedOps ops(grammar, kTrials, 7);
    CHECK(ops.load());
    Bank bank(7);
    Stop stop;
    EnumerateOptions options{static_cast<int>(state.range(0)), 7, 1, 0, Verbosity::Quiet};
    auto found = enumerate(ops, options, bank, stop);
    CHECK(found);
    counts = found->counts;
  }
  state.counters["applications"] = static_cast<double>(counts.applications);
  state.counters["rate"] = benchmark::Counter(static_cast<double>(counts.applications),
                                              benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_Enumerate)->DenseRange(1, 4)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace regraft::gen

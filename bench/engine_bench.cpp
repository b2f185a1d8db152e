// What the rewrite engine costs on models, with the full shipped rules, on one thread.
//   REGRAFT_BENCH_MODELS=DIR build/release/bench/engine_bench
// DIR holds models of bench/models/build_models.py; `bench/run_engine.py` does it all.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "base/rng.h"
#include "bench/shipped.h"
#include "rewrite/engine/engine.h"

namespace regraft::rewrite {
namespace {

using Clock = std::chrono::steady_clock;

double microseconds(Clock::time_point from) {
  return std::chrono::duration<double, std::micro>(Clock::now() - from).count();
}

using bench::load;
using bench::read_shipped;
using bench::shipped_rules;

void report(benchmark::State& state, std::vector<double> times) {
  if (times.empty()) return;
  std::sort(times.begin(), times.end());
  state.counters["median_us"] = times[times.size() / 2];
  state.counters["p90_us"] = times[times.size() * 9 / 10];
}

/// Apply, update matches, cost and hash, undo: random matches, on random walks of eight moves.
void step(benchmark::State& state, const std::string& name) {
  auto graph = load(state, name);
  if (!graph) return;
  Engine engine(*graph, shipped_rules(), bench::roofline());
  Rng rng(1);
  std::vector<double> times;
  uint64_t priced = engine.priced();
  for (auto _ : state) {
    auto start = Clock::now();
    engine.apply(engine.matches()[rng.below(engine.matches().size())]);
    benchmark::DoNotOptimize(engine.identity());
    if (engine.depth() < 8) {
      // Undone once and done again, so that the walk goes on.
      Move move = engine.moves().back();
      engine.undo();
      times.push_back(microseconds(start));
      engine.apply(engine.find(move));
    } else {
      engine.undo();
      times.push_back(microseconds(start));
      while (engine.depth() > 0) engine.undo();
    }
  }
  report(state, std::move(times));
  state.counters["matches"] = static_cast<double>(engine.matches().size());
  state.counters["priced"] = benchmark::Counter(static_cast<double>(engine.priced() - priced),
                                                benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(step, resnet50, std::string("resnet50"))->MinWarmUpTime(0.5);
BENCHMARK_CAPTURE(step, inception_v3, std::string("inception_v3"))->MinWarmUpTime(0.5);
BENCHMARK_CAPTURE(step, bert_base, std::string("bert_base"))->MinWarmUpTime(0.5);
BENCHMARK_CAPTURE(step, decoder_20k, std::string("decoder_20k"))->MinWarmUpTime(0.5);

/// Parsing and checking the rule files, and compiling them.
void rules(benchmark::State& state) {
  for (auto _ : state) {
    auto index = RuleIndex::build(read_shipped());
    CHECK(index.has_value());
    benchmark::DoNotOptimize(index->rules().size());
  }
}
BENCHMARK(rules)->Unit(benchmark::kMillisecond);

/// All matches of a graph, found and priced, from nothing.
void match_all(benchmark::State& state, const std::string& name) {
  auto graph = load(state, name);
  if (!graph) return;
  size_t matches = 0;
  uint64_t priced = 0;
  for (auto _ : state) {
    Engine engine(*graph, shipped_rules(), bench::roofline());
    matches = engine.matches().size();
    priced += engine.priced();
  }
  state.counters["nodes"] = graph->node_count();
  state.counters["matches"] = static_cast<double>(matches);
  state.counters["priced"] =
      benchmark::Counter(static_cast<double>(priced), benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(match_all, resnet50, std::string("resnet50"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(match_all, inception_v3, std::string("inception_v3"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(match_all, bert_base, std::string("bert_base"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(match_all, decoder_2k, std::string("decoder_2k"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(match_all, decoder_20k, std::string("decoder_20k"))
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace regraft::rewrite

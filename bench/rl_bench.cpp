// What acting and planning cost on models, with the full shipped rules, on one thread.
//   REGRAFT_BENCH_MODELS=DIR build/release/bench/rl_bench
// DIR holds models of bench/models/build_models.py. The networks have random weights.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "bench/shipped.h"
#include "rl/network/follow.h"
#include "rl/network/network_file.h"
#include "rl/planner/gumbel.h"

namespace regraft::rl {
namespace {

std::optional<Environment> environment(benchmark::State& state, const std::string& name) {
  auto graph = bench::load(state, name);
  if (!graph) return std::nullopt;
  return std::optional<Environment>(std::in_place, *graph, bench::shipped_rules(),
                                    bench::roofline(), EnvironmentOptions());
}

Network network(const Environment& env) { return Network({}, describe(env.rules()).columns, 1); }

/// Environment steps with the network in the loop; what was found at the start is not counted.
void follow(benchmark::State& state, const std::string& name) {
  auto env = environment(state, name);
  if (!env) return;
  Network net = network(*env);
  RuleTable rules = describe(env->rules());
  int64_t steps = 0;
  for (auto _ : state) {
    state.PauseTiming();
    env->reset();
    Follower follower(net, rules, *env);
    follower.best();
    state.ResumeTiming();
    Rng rng(3);
    for (int k = 0; k < env->max_steps(); ++k, ++steps) {
      int32_t number = follower.best();
      const auto& allowed = follower.logits().numbers;
      if (allowed.empty()) break;
      follower.apply(number >= 0 ? number : allowed[rng.below(allowed.size())]);
    }
  }
  state.counters["steps"] =
      benchmark::Counter(static_cast<double>(steps), benchmark::Counter::kIsRate);
}

/// One description of the whole graph and one pass through the network.
void judge(benchmark::State& state, const std::string& name) {
  auto env = environment(state, name);
  if (!env) return;
  auto policy = network_policy(network(*env), describe(env->rules()), "random");
  for (auto _ : state) {
    Observer observer(env->engine(), env->original());
    benchmark::DoNotOptimize(policy->judge(observer.observe(env->standing(), env->matches())));
  }
  state.counters["nodes"] = env->observation().nodes;
  state.counters["matches"] = static_cast<double>(env->observation().matches());
}

void decide(benchmark::State& state, const std::string& name) {
  auto env = environment(state, name);
  if (!env) return;
  auto policy = network_policy(network(*env), describe(env->rules()), "random");
  Rng rng(1);
  for (auto _ : state) benchmark::DoNotOptimize(plan(*env, *policy, {}, rng));
}

void add_all() {
  for (const char* name : {"squeezenet1_1", "resnet50", "inception_v3", "bert_base"}) {
    auto add = [&](const std::string& what, auto body) {
      benchmark::RegisterBenchmark((what + "/" + name).c_str(), body, name)
          ->Unit(benchmark::kMicrosecond);
    };
    add("follow", follow);
    add("judge", judge);
    add("decide", decide);
  }
}
const int added = (add_all(), 0);

}  // namespace
}  // namespace regraft::rl

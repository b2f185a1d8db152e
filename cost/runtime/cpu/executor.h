#pragma once
// Whole graphs on this machine's CPU: planned as the runtime "cpu", compiled with oneDNN.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cost/runtime/cpu/timing.h"

namespace regraft::cost::cpu {

struct ExecutorOptions {
  CompileOptions compile;
  /// Opaque nodes do not run: what they make is random (zeros where it is not float32). For timing
  /// the rest of a graph; otherwise a graph that has one is an Error that names it.
  bool skip_opaque = false;
};

/// A graph that is ready to run. Weights are folded and packed, buffers are shared by values that
/// do not live together. Not thread-safe; move only.
class Executor {
 public:
  static Result<Executor> compile(const Graph& graph, const ExecutorOptions& options);
  Executor(Executor&&) noexcept;
  Executor& operator=(Executor&&) noexcept;
  ~Executor();

  /// Row-major arrays, one for each input of the graph, of its shape. An input that no kernel reads
  /// may be empty. An Error when shapes do not fit.
  Result<std::vector<Array<float>>> run(const std::vector<Array<float>>& inputs);
  /// Microseconds of one run on random inputs (the same for all executors of a seed).
  double time_once(uint64_t seed);
  /// Medians over some runs of each call, in order.
  std::vector<Timing> time_calls(int runs);

  const KernelPlan& plan() const;
  size_t activation_bytes() const;  ///< of the shared buffers
  size_t weight_bytes() const;      ///< packed

 private:
  struct State;
  explicit Executor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Times whole graphs, in turn. An Error names the first graph (by its number) that cannot run.
Result<std::vector<Timing>> time_graphs(std::span<const Graph* const> graphs,
                                        const ExecutorOptions& executor,
                                        const TimeOptions& options);

}  // namespace regraft::cost::cpu

#pragma once
// Counterexamples of two models, run in onnxruntime.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/measure/worker.h"
#include "rewrite/refute/counterexample.h"

namespace regraft::cli {

/// A model's file, and the names that its inputs and outputs have there, in the order of its graph.
/// An empty name: the file has no such input.
struct ReplayModel {
  std::string file;
  std::vector<std::string> inputs, outputs;
};

/// What one run made, or why there was none.
struct ModelRun {
  std::string error;         ///< in one line; empty: it ran
  bool unsupported = false;  ///< the runtime lacks something; the error says nothing of the model
  std::vector<std::optional<Array<double>>> outputs;  ///< none: no tensor of numbers
  std::vector<DType> types;
};

/// Two models on the same inputs.
struct Replay {
  std::string runtime;  ///< "onnxruntime 1.31.1"
  bool differs = false;
  std::string why_not;  ///< it does not count as a difference; empty: it does
  ModelRun runs[2];
  size_t output = 0;              ///< where they differ; of models that both run
  std::vector<int64_t> position;  ///< the element; empty where shapes differ
  double first = 0, second = 0;   ///< what they have there
};

/// onnxruntime, all its optimisations off, on one core. Not thread-safe.
class Replayer {
 public:
  /// Nothing where no Python with onnxruntime is at hand.
  static std::optional<Replayer> start(const Stop& stop);

  const std::string& runtime() const { return runtime_; }
  /// Each of several lists of inputs; `types` are the inputs'. An Error when the worker gives no
  /// answer, or files cannot be written.
  Result<std::vector<ModelRun>> run(const ReplayModel& model, const std::vector<DType>& types,
                                    const std::vector<std::vector<Array<double>>>& inputs,
                                    const Stop& stop);
  /// Runs both models at a counterexample of their graphs. A difference that was predicted counts
  /// where the runtime shows it: the same element differs by about as much, or shapes do, or only
  /// the first model runs. One that was not (needs_replay) counts where outputs differ by far more
  /// than rounding, and than the first model's own outputs do when its inputs are disturbed.
  Result<Replay> replay(const ReplayModel& a, const ReplayModel& b, const Graph& graph_of_a,
                        const rewrite::ModelCounterexample& counterexample, const Stop& stop);

 private:
  Replayer(std::shared_ptr<Worker> worker, std::string runtime)
      : worker_(std::move(worker)), runtime_(std::move(runtime)) {}
  std::shared_ptr<Worker> worker_;
  std::string runtime_;
};

/// What became of two models.
struct Refutation {
  std::optional<rewrite::ModelCounterexample> counterexample;
  /// Of the counterexample. Nothing where there is none, or no runtime at hand. Where it does not
  /// show the difference, no counterexample that was found did.
  std::optional<Replay> replay;
  rewrite::CounterexampleSearch search;
  /// The runtime shows the difference; or it cannot run the models, and the graphs know.
  bool refuted() const;
};
struct RefuteOptions {
  rewrite::CounterexampleOptions search;
  bool replay = true;  ///< in onnxruntime, where it is at hand
  int attempts = 8;    ///< counterexamples to replay until one shows the difference
  int trials = 8;      ///< runs of the models where their graphs cannot tell, and at most one where
                       ///< these agree: a runtime may refuse what the import reads; 0: none
};
/// Searches for a counterexample of two graphs, replays it, and searches on while it does not show.
/// Where outputs cannot be compared by the graphs, the models are run on inputs of several kinds;
/// where all agree, once.
/// The graphs have their inputs and outputs in the order of the models' names. An Error as for
/// CounterexampleFinder and Replayer.
Result<Refutation> refute(const ReplayModel& a, const Graph& graph_of_a, const ReplayModel& b,
                          const Graph& graph_of_b, const RefuteOptions& options, const Stop& stop);

}  // namespace regraft::cli

#pragma once
// Timing kernels and models in a runtime that is at hand.
#include <chrono>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/progress.h"
#include "cost/model/kernel.h"
#include "cost/profile/profile.h"
#include "io/model.h"

namespace regraft::cli {

/// A runtime that can be measured with. Not thread-safe.
struct Measurer {
  cost::ProfileKey key;
  bool files = false;   ///< runs a model's file as it is
  int64_t block = 0;    ///< channels in a block of its blocked layout
  double overhead = 0;  ///< microseconds for each kernel in a graph; 0: part of the kernels' times
  /// One timing for each kernel, in the order of the map; kernels that cannot be timed have 0 runs.
  /// Empty where the runtime times whole models only (Runtime::times_kernels).
  /// All are timed in turn, for so many seconds at most. An Error when `stop` came first.
  std::function<Result<std::vector<cost::Timing>>(const std::map<std::string, cost::Kernel>&,
                                                  double seconds, const Stop& stop)>
      time_kernels;
  /// One timing for each graph, all in turn. Graph k was made from the graph of model k, or of the
  /// last one if there are fewer; nullptr, where `files`, is the file that model k was read from.
  /// Noise may be that of the ratio to the first, whose own is then 0. A graph that the runtime
  /// refuses has 0 runs; the first is an Error then. An Error when `stop` came first.
  std::function<Result<std::vector<cost::Timing>>(std::span<const io::Imported> models,
                                                  const std::vector<const Graph*>& graphs,
                                                  double seconds, const Stop& stop)>
      time_graphs;
  /// The same, each graph in the runtime of its place; of one that runs in the Python worker, whose
  /// runtimes it can be. Empty where there is no other.
  std::function<Result<std::vector<cost::Timing>>(
      const std::vector<std::string>& runtimes, std::span<const io::Imported> models,
      const std::vector<const Graph*>& graphs, double seconds, const Stop& stop)>
      time_graphs_in;
  /// The names of those runtimes, with versions. Empty where time_graphs_in is.
  std::function<Result<std::map<std::string, std::string>>(const Stop& stop)> installed;
};

/// What is to be timed: whole models alone, which is sooner ready, or kernels too.
enum class Timed : uint8_t { Models, Kernels };
/// One of cost::runtimes(); some run in a Python process, of $REGRAFT_PYTHON, the project's .venv
/// or python3. An Error when the runtime is not there. Nothing is loaded from the current folder.
Result<Measurer> start_measurer(const std::string& runtime, int threads, const Stop& stop,
                                Timed timed = Timed::Kernels);

double seconds_since(std::chrono::steady_clock::time_point start);

/// How long measuring goes on, and whether it shows that it does.
struct Patience {
  double seconds = 0;
  const Stop& stop;
  Verbosity verbosity = Verbosity::Normal;
  /// Called when the profile has grown, so that it can be kept; may be empty.
  std::function<Status()> keep = {};
};
/// Times what the profile lacks of `wanted`, some kernels at a time, and adds it; then, where that
/// was something, calls check_spread. How many were added: when it was stopped, those until then.
Result<size_t> complete(cost::Profile& profile, const std::map<std::string, cost::Kernel>& wanted,
                        const Measurer& measurer, const Patience& patience);
/// Times a sample of the profile's kernels again, and sets its spread; where it was stopped, that
/// is not known.
Status check_spread(cost::Profile& profile, const Measurer& measurer, double seconds,
                    const Stop& stop);
/// Calls time_graphs of the measurer, and shows that time passes.
Result<std::vector<cost::Timing>> time_models(const Measurer& measurer,
                                              std::span<const io::Imported> models,
                                              const std::vector<const Graph*>& graphs,
                                              const Patience& patience);

}  // namespace regraft::cli

#pragma once
// What the runs of `bench learn` say.
#include <optional>

#include "cli/bench/methods.h"
#include "cli/bench/runs.h"
#include "rl/statistics.h"

namespace regraft::cli {

/// The two runs of a training with a seed; one and the same where one is enough for both.
struct RunPair {
  BenchRun by_seconds, by_candidates;
};
/// By training, then by seed of the search.
using MethodRuns = std::vector<std::vector<RunPair>>;

struct GraphRuns {
  std::string name;
  double before = 0, reference = 0;  ///< microseconds: at first, and the least known
  std::vector<MethodRuns> methods;   ///< in the order of the methods
  std::optional<BenchRun> baseline;  ///< the long run that is to be reached
  bool can_save() const;             ///< the reference is cheaper than the graph at first
};

/// A place where methods are compared.
struct Limit {
  std::string name;  ///< "10000 candidates", "1 s"
  uint64_t candidates = 0;
  double seconds = 0;  ///< one of the two is 0
};
std::vector<Limit> limits_of(const std::vector<uint64_t>& candidates,
                             const std::vector<double>& seconds);

/// Saved part of what can be saved, (before - cost) / (before - reference), in the graphs that can
/// save; rounded to a millionth.
rl::Scores scores_at(const std::vector<GraphRuns>& graphs, size_t method, const Limit& limit);

/// A learned method beside one that learned nothing, at a limit.
struct Comparison {
  size_t method = 0, other = 0;
  Limit limit;
  rl::Interval probability, difference;  ///< of improvement; of scores
};
/// Each learned method beside the controls of its mode and beside windows.
std::vector<Comparison> comparisons(const std::vector<GraphRuns>& graphs,
                                    const std::vector<Method>& methods,
                                    const std::vector<Limit>& limits);

/// When a method was as good as the long run of the baseline ended: medians of its runs, so that it
/// is reached when half of them did.
struct Reached {
  size_t graph = 0, method = 0;
  int runs = 0, reached = 0;
  bool half = false;  ///< at least half of the runs
  double candidates = 0, seconds = 0;
};
std::vector<Reached> reaching(const std::vector<GraphRuns>& graphs, size_t methods);

/// How many times less a learned method needed than one that learned nothing to be as good as the
/// long run, mean over graphs. A run that never was counts as if it had been at its end: where the
/// other is one of those, this is too little.
struct Sooner {
  size_t method = 0, other = 0;
  rl::Interval candidates, seconds;
};
/// The pairs are those of comparisons().
std::vector<Sooner> sooner(const std::vector<GraphRuns>& graphs,
                           const std::vector<Method>& methods);

/// How many times less a method needed than the baseline, over the graphs that it reached.
struct Ratios {
  size_t method = 0;
  int graphs = 0, reached = 0;
  /// Of all that the baseline ran; of what it ran until it found its best.
  std::optional<rl::Interval> candidates, seconds, candidates_found, seconds_found;
};
std::vector<Ratios> ratios(const std::vector<GraphRuns>& graphs,
                           const std::vector<Reached>& reached, size_t methods);

}  // namespace regraft::cli

#pragma once
// Which graph is written: by prediction, or by measurement.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/support/commands.h"
#include "cli/support/profiles.h"
#include "cost/profile/objective.h"
#include "cost/profile/timing.h"
#include "io/model.h"
#include "rewrite/candidates.h"

namespace regraft::cli {

/// What a graph is predicted to take, and what it took.
struct Valued {
  cost::Worth predicted;
  std::optional<cost::Timing> measured;
};

/// Another runtime that is installed and faster, beyond the noise.
struct Elsewhere {
  std::string runtime, version;
  double ratio = 1, noise = 0;  ///< of its time to that of the target
};

struct Choice {
  Graph graph;  ///< the result
  /// On the way to it; its `best` has moved. Where the original is kept: of all searches together.
  rewrite::SearchReport search;
  std::vector<int32_t> folded;  ///< then: see FoldReport
  Valued before, after;
  std::vector<Valued> others;  ///< that were measured and not taken
  bool verbatim = false;    ///< the file as it came, because what the import makes of it was slower
  bool kept = false;        ///< the original, because nothing was better
  cost::GraphCost sums[2];  ///< of the cost model over all calls, before and after
  std::shared_ptr<const ChosenCost> cost;  ///< the cost model, as it was in the end
  std::string model;                       ///< its description
  UsedProfile profile;      ///< what it knows
  std::vector<std::string> passed_over;  ///< why other profiles were not used
  std::string measured_with;             ///< runtime; empty: nothing was measured
  std::optional<double> spread;          ///< of the original against itself, as a part of its time
  std::optional<Elsewhere> elsewhere;
  std::string note;  ///< why what --measure promises could not be done; empty: it was
};

/// Searches, and chooses: by what the target takes for the file, the clean-up's graph and the best
/// found, where a Python has it (Runtime::in_worker); else by price. With `--measure` kernels that
/// are not in the profile are timed first, and the original and the best candidates last, in turn;
/// the original stays unless a candidate is faster beyond the noise, twice. Made constants add at
/// most `growth` bytes to the model.
Result<Choice> choose(const OptimizeFlags& flags, const io::Imported& imported,
                      const rewrite::RuleIndex& rules, const rewrite::SearchOptions& options,
                      int64_t growth, const Stop& stop);
/// The original graph after all.
void keep_original(Choice& choice, const Graph& original);

}  // namespace regraft::cli

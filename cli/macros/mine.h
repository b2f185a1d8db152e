#pragma once
// What searches find beyond greedy descent, model by model.
#include "cli/measure/starts.h"
#include "cli/support/profiles.h"
#include "cost/profile/objective.h"
#include "io/model.h"
#include "rewrite/macros/paying.h"

namespace regraft::cli {

/// A model as greedy descent leaves it.
struct Descended {
  Graph clean;  ///< where the descent begins
  Graph graph;  ///< and where it ends, with the same ids
  size_t steps = 0;
  Opset opset;
  double cost = 0;  ///< of where it ends, microseconds, as the search adds them up
};

struct MineOptions {
  std::vector<std::string> searchers = {"windows", "saturation", "portfolio"};
  uint64_t budget = 20000;  ///< candidates of each
  uint64_t seed = 7;
};

/// How `optimize` begins with a model by default.
class Beginning {
 public:
  /// All outlive this.
  Beginning(const io::Imported& imported, const rewrite::RuleIndex& rules, const ChosenCost& cost,
            const Stop& stop);
  /// Cleaned up, and where greedy descent ends: by the cost that was chosen, with operators
  /// selected, or by another model, as they are.
  Result<Descended> descended() const { return descended(starts_.last(), *cost_.model); }
  Result<Descended> descended_by(const cost::CostModel& model) const {
    return descended(starts_.plain(), model);
  }

 private:
  Result<Descended> descended(const Graph& start, const cost::CostModel& model) const;

  const rewrite::RuleIndex& rules_;
  const ChosenCost& cost_;
  const Stop& stop_;
  Opset opset_;
  cost::Objective goal_;
  Starts starts_;
};

/// From there each searcher, and the parts of its way that pay.
std::vector<rewrite::PayingPart> mined(const Descended& model, const rewrite::RuleIndex& rules,
                                       const cost::CostModel& cost, const MineOptions& options,
                                       const Stop& stop);

}  // namespace regraft::cli

#pragma once
// What searches find beyond greedy descent, model by model.
#include "cli/support/profiles.h"
#include "io/model.h"
#include "rewrite/macros/paying.h"

namespace regraft::cli {

/// A model as greedy descent leaves it.
struct Descended {
  Graph graph;
  Opset opset;
  double cost = 0;  ///< microseconds, as the search adds them up
};

struct MineOptions {
  std::vector<std::string> searchers = {"windows", "saturation", "portfolio"};
  uint64_t budget = 20000;  ///< candidates of each
  uint64_t seed = 7;
};

/// What `optimize` does before its search (marks fusions, selects operators, cleans up), and greedy
/// descent.
Descended descended(const io::Imported& imported, const rewrite::RuleIndex& rules,
                    const ChosenCost& cost, const Stop& stop);

/// From there each searcher, and the parts of its way that pay.
std::vector<rewrite::PayingPart> mined(const Descended& model, const rewrite::RuleIndex& rules,
                                       const cost::CostModel& cost, const MineOptions& options,
                                       const Stop& stop);

}  // namespace regraft::cli

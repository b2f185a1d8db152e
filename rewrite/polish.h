#pragma once
// The end of a search on what a whole graph is worth.
#include <functional>
#include <unordered_map>

#include "rewrite/search/searcher.h"

namespace regraft::rewrite {

/// What a whole graph is worth: less is better. Unlike a cost model it may look at how calls fit
/// together: what a runtime fuses, where it moves a tensor to another layout, what is alive at a
/// time. Called from one thread.
using GraphPrice = std::function<double(const Graph&)>;

/// Prices of parts of graphs, by likeness (see Region), whichever graph they are of.
using PartPrices = std::unordered_map<uint64_t, double>;

struct PolishOptions {
  uint64_t evaluations = 2000;  ///< moves whose price is asked for, at most
  /// Where the price of a graph is that of its parts, but for what lies across their borders: what
  /// is known of parts. A move is first priced in what is near it, and in the whole graph only if
  /// it pays there. Null: it is not.
  PartPrices* parts = nullptr;
};

/// Goes on from where `report` ended, on prices of whole graphs: takes the first match that lowers
/// the price, those first that the cost model likes, until none does. Of places that are alike one
/// is tried. The moves are added to the report, whose costs stay those of the model.
void polish(SearchReport& report, const RuleIndex& rules, const cost::CostModel& model,
            const GraphPrice& price, const SearchOptions& options, const PolishOptions& wanted,
            const Stop& stop);

}  // namespace regraft::rewrite

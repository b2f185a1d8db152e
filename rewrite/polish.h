#pragma once
// The end of a search on what a whole graph is worth.
#include <functional>

#include "rewrite/search/searcher.h"

namespace regraft::rewrite {

/// What a whole graph is worth: less is better. Unlike a cost model it may look at how calls fit
/// together: what a runtime fuses, where it moves a tensor to another layout, what is alive at a
/// time. Called from one thread.
using GraphPrice = std::function<double(const Graph&)>;

/// Goes on from where `report` ended, on prices of whole graphs: takes the first match that lowers
/// the price, those first that the cost model likes, until none does or `evaluations` graphs were
/// priced. Of places that are alike one is tried. The moves are added to the report, whose costs
/// stay those of the model.
void polish(SearchReport& report, const RuleIndex& rules, const cost::CostModel& model,
            const GraphPrice& price, const SearchOptions& options, const Stop& stop,
            uint64_t evaluations);

}  // namespace regraft::rewrite

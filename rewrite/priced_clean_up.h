#pragma once
// The clean-up, as far as the graph's price allows.
#include "rewrite/polish.h"

namespace regraft::rewrite {

/// What CleanUp makes of g. Where that costs more than g after all, it begins anew without the rule
/// that the price rose with, a few times; what was done before the price rose is the result where
/// it has fewer nodes. An Error when a step cannot be made again. REQUIRES: g is acyclic.
Result<SearchReport> clean_up(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                              const GraphPrice& price, const SearchOptions& options,
                              const Stop& stop);

}  // namespace regraft::rewrite

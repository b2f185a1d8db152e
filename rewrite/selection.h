#pragma once
// Instruction selection: what is written in many ways becomes the operator that a runtime has.
#include "rewrite/polish.h"

namespace regraft::rewrite {

/// Searches the neighbourhoods of functions and reductions for cheaper graphs by equality
/// saturation (egraph/saturation.h). The rules (RuleIndex::selection) make few ways to
/// write a block of many, and operators of these. Convolutions, and products with constants, are
/// left where they are. A neighbourhood is rewritten where that lowers its price, or leaves fewer
/// calls at the same price. Those that are alike are searched once. REQUIRES: g is acyclic.
SearchReport select_operators(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                              const GraphPrice& price, const SearchOptions& options,
                              const Stop& stop);

}  // namespace regraft::rewrite

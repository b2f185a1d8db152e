#pragma once
// The shortest parts of what a search did that pay by themselves.
#include "rewrite/macros/compose.h"
#include "rewrite/search/searcher.h"

namespace regraft::rewrite {

/// Steps of a search that pay together and of which none can be left out.
struct PayingPart {
  std::vector<Move> moves;    ///< from the graph, without any others
  Result<Composed> composed;  ///< an Error: they are no rule, see compose()
  double gain = 0;            ///< microseconds, there
};

/// Looks at the steps that a search made from `g`. A part is a step with all that it needs, two
/// such that touch each other, or all that hang together; of each part that costs less than `g`,
/// the steps without which it saves as much are left out. Parts of one step are none: greedy
/// descent makes these by itself. `model`, `options` are those of the search. Deterministic.
std::vector<PayingPart> paying_parts(const Graph& g, const RuleIndex& rules,
                                     std::span<const AppliedRule> steps,
                                     const cost::CostModel& model, const EngineOptions& options,
                                     const Stop& stop);

}  // namespace regraft::rewrite

#pragma once
// Equality saturation (Tate et al., POPL 2009; for tensor graphs Yang et al., "Tensat", MLSys
// 2021).
#include "rewrite/search/searcher.h"

namespace regraft::rewrite {

/// Goes downhill first. Then fills an e-graph with what rules make of the original graph, takes the
/// cheapest graph out of it, what is shared counted once, and leads the engine there: best-first
/// over the moves that the e-graph remembers, guided by how many of them are still missing. What
/// counts is where the engine gets, so that every result is a sequence of moves like any other's;
/// it may fall short of the graph that was taken out, as rules lead one way only. Again from the
/// result while that pays. For graphs of up to some hundred calls; in larger ones the e-graph is
/// full before rules have been combined. alpha and `seed` are unused.
class Saturation final : public Searcher {
 public:
  SearchReport search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                      const SearchOptions& options, const Stop& stop) const override;
};

}  // namespace regraft::rewrite

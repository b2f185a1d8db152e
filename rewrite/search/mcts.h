#pragma once
// Monte Carlo tree search without anything learned.
#include "rewrite/search/searcher.h"

namespace regraft::rewrite {

/// Goes downhill first. Then plays: down a tree of moves by upper confidence bounds (Kocsis and
/// Szepesvari, "Bandit based Monte-Carlo Planning", ECML 2006), with as many children of a node as
/// the root of its visits allows, then a few random moves. A play is worth what the cheapest graph
/// on it saves. A graph that costs less than all before becomes the root of a new tree. Runs until
/// its budget or time is spent, unless there is no match at all. alpha is unused.
class Mcts final : public Searcher {
 public:
  SearchReport search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                      const SearchOptions& options, const Stop& stop) const override;
};

}  // namespace regraft::rewrite

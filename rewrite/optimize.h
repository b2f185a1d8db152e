#pragma once
// The whole of optimisation: search, fold constants, account.
#include "rewrite/search/searcher.h"

namespace regraft::rewrite {

/// What a graph consists of and is predicted to cost.
struct Account {
  std::map<std::string, int64_t> calls;  ///< at run time, by operator; opaque ones under "opaque"
  int64_t parameters = 0;                ///< elements of constants
  cost::Cost cost;
};
Account account(const cost::CostModel& model, const Graph& g);

struct OptimizeReport {
  Graph graph;  ///< the result
  Account before, after;
  int64_t calls_folded = 0;
  SearchReport search;  ///< its `best` has moved to `graph`
};

/// Searches, then folds constant subgraphs. An Error when a constant cannot be read.
/// REQUIRES: g is acyclic.
Result<OptimizeReport> optimize(const Graph& g, const RuleIndex& rules,
                                const cost::CostModel& model, const Searcher& searcher,
                                const SearchOptions& options, const Stop& stop);

}  // namespace regraft::rewrite

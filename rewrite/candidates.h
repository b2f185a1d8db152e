#pragma once
// Several graphs for one model, to choose from by measurement.
#include "ir/graph/fold.h"
#include "rewrite/polish.h"

namespace regraft::rewrite {

struct Candidate {
  Graph graph;                  ///< constants folded
  SearchReport search;          ///< its `best` has moved to `graph`
  double price = 0;             ///< of the graph
  std::vector<int32_t> folded;  ///< which calls: see FoldReport
  bool cleaned = false;         ///< made by the clean-up alone
  bool unchanged = false;       ///< the graph itself, which is a candidate where that was asked for
};

struct CandidateOptions {
  size_t count = 1;              ///< how many at most
  uint64_t evaluations = 2000;   ///< graphs priced while polishing one
  int64_t growth = kFoldGrowth;  ///< bytes that made constants may add to a model
  double reserve = 0;            ///< seconds of the time that are for what follows a search
  bool cleaned = false;          ///< what the clean-up alone makes of the graph, too
  bool unchanged = false;        ///< then also where that is the graph itself
  /// What led to the graph that the searches start from, and the graph before it; null: nothing.
  const SearchReport* before = nullptr;
  const Graph* original = nullptr;
};

struct Candidates {
  std::vector<Candidate> best;  ///< one more than asked for where the clean-up's is not among them
  /// Of all searches together: the counts and seconds are sums, the queue's peak is the largest,
  /// and the reason is the first that is not Exhausted. No graph, no steps.
  SearchReport searches;
};

/// The best graphs found, by price, no two of them equal, none equal to g. The searcher runs with
/// each of the models, and then, if more are asked for, with the first one without one of the rules
/// that made the best graph, each in turn: a rule that the model likes and the machine does not
/// is so left out of some candidate. An Error when a constant cannot be read. REQUIRES: g is
/// acyclic; there is a model.
Result<Candidates> find_candidates(const Graph& g, const RuleIndex& rules,
                                   const std::vector<const cost::CostModel*>& models,
                                   const Searcher& searcher, const GraphPrice& price,
                                   const SearchOptions& options, const CandidateOptions& wanted,
                                   const Stop& stop);

}  // namespace regraft::rewrite

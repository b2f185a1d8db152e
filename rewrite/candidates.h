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
  size_t count = 1;               ///< how many at most
  PolishOptions polish;           ///< of each graph
  bool by_parts = false;          ///< polishing has PolishOptions::parts
  int64_t growth = kFoldGrowth;   ///< bytes that made constants may add to a model
  double reserve = 0;             ///< seconds of the time that are for what follows a search
  double drawing = 0;             ///< of these seconds, those for drawing neighbours
  bool cleaned = false;           ///< what the clean-up alone makes of the graph, too
  bool downhill = false;          ///< what greedy descent alone makes of the cleaned graph, too
  const Stop* descent = nullptr;  ///< what ends going downhill, which a search's time does not cut
                                  ///< off; null: the same
  double neighbours = 0;   ///< to make up the count, graphs that random moves lead to and whose
                           ///< price is at most so many times the model's; 0: none
  bool unchanged = false;  ///< then also where that is the graph itself
};

/// A graph that searches start from.
struct Start {
  const Graph* graph;                    ///< not null
  const SearchReport* before = nullptr;  ///< what led to it from the model; null: it is the model
};

/// The start that searches with the first cost model have in place of the model; nullopt: the model
/// is. What it points to outlives the searches. Empty: the model is.
using MakeStart = std::function<std::optional<Start>()>;

struct Candidates {
  std::vector<Candidate> best;  ///< one more than asked for where the clean-up's is not among them
  /// Of all searches together: the counts are sums, the queue's peak is the largest, and the reason
  /// is the first that is not Exhausted. The seconds are those that passed, the other start's
  /// making included; those of polishing are sums over searches, which may run at the same time. No
  /// graph, no steps.
  SearchReport searches;
};

/// The best graphs found, by price, no two of them equal, none equal to the model. The clean-up's
/// own candidate begins at the model. The searcher runs from the other start with the first cost
/// model, from the model with the others, on two threads where the options allow it, which changes
/// no result but by the time that there is. Then, if more are asked for, it runs from the other
/// start without one of the rules that made the best graph, each in turn: a rule that the cost
/// model likes and the machine does not is so left out of some candidate. Last come neighbours of
/// all these and of the model (neighbours.h), if asked for. An Error when a constant cannot be
/// read. REQUIRES: graphs are acyclic; there is a cost model; cost models and price are
/// thread-safe.
Result<Candidates> find_candidates(const Graph& model, const MakeStart& other,
                                   const RuleIndex& rules,
                                   const std::vector<const cost::CostModel*>& costs,
                                   const Searcher& searcher, const GraphPrice& price,
                                   const SearchOptions& options, const CandidateOptions& wanted,
                                   const Stop& stop);

}  // namespace regraft::rewrite

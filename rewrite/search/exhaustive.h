#pragma once
// Every graph that rules lead to.
#include "rewrite/search/searcher.h"

namespace regraft::rewrite {

/// Visits each graph that moves lead to by way of graphs within the limit once, the cheapest first.
/// The limit counts calls that depend on constants only as well: there is no end to what rules make
/// of a constant. When it ends as Exhausted, no graph that can be reached within the limit costs
/// less. For small graphs: their number grows exponentially with the places where rules apply.
/// Remembers two digests of each graph and the move that led to it, of at most kMaxGraphs graphs.
/// alpha and `seed` are unused.
class Exhaustive final : public Searcher {
 public:
  static constexpr size_t kMaxGraphs = size_t{1} << 21;
  SearchReport search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                      const SearchOptions& options, const Stop& stop) const override;
};

}  // namespace regraft::rewrite

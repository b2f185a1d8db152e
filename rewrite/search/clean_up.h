#pragma once
// What leaves fewer calls, at a price that is no higher as far as prices can tell.
#include "rewrite/search/searcher.h"

namespace regraft::rewrite {

/// How much more than before a graph with fewer calls may be priced at: less than prices say.
inline constexpr double kCleanUpTolerance = 0.005;

/// Applies rules that leave fewer calls, as long as one does and the graph costs at most what the
/// cheapest so far does, and kCleanUpTolerance: of those the one that removes most. Moves that
/// cancel, and calls that do nothing, vanish so. Where none does, it tries detours: a move that
/// removes nothing, followed by what it made possible; and reshapes and transpositions that sink
/// through calls of elements until they cancel. A detour that saves no call is taken back.
class CleanUp final : public Searcher {
 public:
  CleanUp() = default;
  /// Without those of the rules that are marked, by number.
  explicit CleanUp(std::vector<char> without) : without_(std::move(without)) {}
  SearchReport search(const Graph& g, const RuleIndex& rules, const cost::CostModel& model,
                      const SearchOptions& options, const Stop& stop) const override;

 private:
  std::vector<char> without_;  // empty: with all
};

}  // namespace regraft::rewrite

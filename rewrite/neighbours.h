#pragma once
// Graphs that a few random rewrites lead to from one that was found.
#include <optional>

#include "base/rng.h"
#include "rewrite/engine/engine.h"
#include "rewrite/search/searcher.h"

namespace regraft::rewrite {

/// A match of a random rule, each rule that has matches as likely as any, after which the graph has
/// at most `max_calls` calls; -1: there is none.
int32_t random_match(const Engine& engine, double max_calls, Rng& rng);

/// Draws graphs near the end of a search. Not thread-safe.
class Neighbourhood {
 public:
  /// `base`: the search, with its `best`. Rules, model, options and stop outlive this.
  /// REQUIRES: base.best is acyclic.
  Neighbourhood(SearchReport base, const RuleIndex& rules, const cost::CostModel& model,
                const SearchOptions& options, const Stop& stop);
  /// The search and then one to kLongest moves, short walks as likely as long ones in proportion:
  /// see random_match. Nothing where no move
  /// applies that leaves the graph within max_growth.
  std::optional<SearchReport> draw(Rng& rng);

  static constexpr int kLongest = 16;

 private:
  SearchReport report() const;

  SearchReport base_;
  const RuleIndex& rules_;
  SearchOptions options_;
  const Stop& stop_;
  Engine engine_;
  double max_calls_;
};

}  // namespace regraft::rewrite

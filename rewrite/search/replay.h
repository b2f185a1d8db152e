#pragma once
// Doing again what a search did.
#include <functional>
#include <span>

#include "rewrite/engine/engine.h"
#include "rewrite/search/searcher.h"

namespace regraft::rewrite {

/// The graph after the steps, each of which must be a match of that rule at that place, found anew:
/// shapes, attributes and conditions are compared as in a search. Constants are not folded. An
/// Error names the first step that is none. `options` must be those of the search. After each step
/// `seen` gets its number and the engine, which can still tell of the last change. REQUIRES: g
/// is acyclic.
Result<Graph> replay(const Graph& g, const RuleIndex& rules, std::span<const AppliedRule> steps,
                     const cost::CostModel& model, const EngineOptions& options,
                     const std::function<void(size_t step, const Engine&)>& seen = {});

/// The graphs on the way of a search, in any order: steps are made and taken back on one engine.
class Replayer {
 public:
  /// As for replay(). `steps` outlive this.
  Replayer(const Graph& g, const RuleIndex& rules, std::span<const AppliedRule> steps,
           const cost::CostModel& model, const EngineOptions& options);
  /// The graph after the first `count` steps. An Error as that of replay().
  Result<Graph> after(size_t count);

 private:
  const RuleIndex& rules_;
  std::span<const AppliedRule> steps_;
  Engine engine_;
};

}  // namespace regraft::rewrite

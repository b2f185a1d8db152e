#pragma once
// What each step did to a model: the nodes that it took away and made, and what it won.
#include <optional>
#include <string>
#include <vector>

#include "cli/measure/choose.h"
#include "rewrite/match/rule_index.h"

namespace regraft::cli {

/// A rule applied at a place.
struct TracedStep {
  Rule rule;                            ///< in the direction in which it was applied
  std::vector<int32_t> removed, added;  ///< nodes, by their ids in the graphs before and after it
  double before = 0, after = 0;         ///< predicted microseconds of the whole graph
  size_t region = 0;                    ///< steps of one region build on each other
};

/// The way from the original to the result. Ids are those of Choice::graph and of the original: a
/// node of both has one id in both.
struct Trace {
  std::vector<TracedStep> steps;
  size_t regions = 0;
  size_t priced_every = 1;      ///< steps
  std::vector<int32_t> folded;  ///< calls that became constants after all steps

  /// By id, the region of a node: of the original, that some step took away; of the result, that
  /// some step made. No entry: no step did. Where several steps had it, the last one's.
  std::vector<std::optional<size_t>> removed, added;
};

/// Does the steps of `choice` again from `original`, and prices what is after each by the same cost
/// model, fusions included. Pricing takes time in proportion to the graph: where that would be too
/// much, one in so many steps is priced, and those before it seem to change nothing. An Error when
/// a step cannot be done again.
Result<Trace> trace(const Graph& original, const rewrite::RuleIndex& rules, const Choice& choice,
                    Opset opset);

}  // namespace regraft::cli

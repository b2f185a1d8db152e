#pragma once
// Finding the left sides of rules in a graph.
#include "rewrite/plan.h"

namespace regraft::rewrite {

/// A place where a rule applies, and what applying it does.
struct Match {
  int rule = 0;  ///< its number in the index
  Found found;
  Plan plan;
};

/// Every applicable match of every rule, in a deterministic order: by root node, operands first,
/// then by rule. Commuted operands are tried both ways; a maker of constants also
/// matches constant data that is equal to what it makes; distinct pattern nodes are distinct graph
/// nodes; shapes, attributes and conditions are those the rule is proved for. Matches that would
/// change constants only are left out: they cost nothing.
std::vector<Match> find_matches(const GraphView& view, const RuleIndex& rules,
                                const cost::CostModel& model, const PlanOptions& options = {});

/// Those of one rule whose first output is node `root`.
std::vector<Match> find_matches_at(const GraphView& view, const RuleIndex& rules, int rule,
                                   int32_t root, const cost::CostModel& model,
                                   const PlanOptions& options = {});

}  // namespace regraft::rewrite

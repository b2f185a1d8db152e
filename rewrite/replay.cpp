#include "rewrite/replay.h"

#include <algorithm>

#include "rewrite/apply.h"

namespace regraft::rewrite {

namespace {

/// The rule's number in the index, or -1.
int number_of(const RuleIndex& rules, const std::string& name) {
  const auto& all = rules.rules();
  auto it = std::find_if(all.begin(), all.end(), [&](auto& r) { return r.rule.name == name; });
  return it == all.end() ? -1 : static_cast<int>(it - all.begin());
}

Result<Graph> applied(const Graph& g, const RuleIndex& rules, const AppliedRule& step,
                      const cost::CostModel& model, const PlanOptions& options) {
  int number = number_of(rules, step.rule);
  if (number < 0) return error("there is no rule " + step.rule);
  const Rule& rule = rules.rules()[static_cast<size_t>(number)].rule;
  bool exists = step.nodes.size() == rule.lhs.nodes.size() &&
                std::all_of(step.nodes.begin(), step.nodes.end(), [&](int32_t id) {
                  return id >= 0 && id < g.id_bound() && g.contains(id);
                });
  if (!exists) return error("the rule " + step.rule + " is said to apply to other nodes");
  int32_t root = step.nodes[static_cast<size_t>(rule.lhs.outputs[0].node)];
  if (g.node(root).kind != NodeKind::Call)
    return error("the rule " + step.rule + " is said to apply where no call is");
  GraphView view = make_view(g, model);
  for (const Match& m : find_matches_at(view, rules, number, root, model, options))
    if (m.found.nodes == step.nodes && m.found.variables == step.variables) return apply(view, m);
  return error("the rule " + step.rule + " does not apply there");
}

}  // namespace

Result<Graph> replay(const Graph& g, const RuleIndex& rules, std::span<const AppliedRule> steps,
                     const cost::CostModel& model, const PlanOptions& options) {
  Graph current = g;
  remove_dead(current);
  for (size_t k = 0; k < steps.size(); ++k) {
    auto next = applied(current, rules, steps[k], model, options);
    if (!next) return error("step " + std::to_string(k) + ": " + next.error().message);
    current = *std::move(next);
  }
  return current;
}

}  // namespace regraft::rewrite

#include "rewrite/search/replay.h"

#include <algorithm>

namespace regraft::rewrite {

namespace {

/// The rule's number in the index, or -1.
int number_of(const RuleIndex& rules, const std::string& name) {
  const auto& all = rules.rules();
  auto it = std::find_if(all.begin(), all.end(), [&](auto& r) { return r.rule.name == name; });
  return it == all.end() ? -1 : static_cast<int>(it - all.begin());
}

/// Applies the step; it can still be taken back.
Status repeat(Engine& engine, const RuleIndex& rules, const AppliedRule& step) {
  int number = number_of(rules, step.rule);
  if (number < 0) return error("there is no rule " + step.rule);
  const Rule& rule = rules.rules()[static_cast<size_t>(number)].rule;
  const LiveGraph& g = engine.graph();
  bool exists = step.nodes.size() == rule.lhs.nodes.size() &&
                std::all_of(step.nodes.begin(), step.nodes.end(), [&](int32_t id) {
                  return id >= 0 && id < g.id_bound() && g.alive(id);
                });
  if (!exists) return error("the rule " + step.rule + " is said to apply to other nodes");
  int32_t match = engine.find({number, step.nodes, step.variables, 0, 0});
  if (match < 0) return error("the rule " + step.rule + " does not apply there");
  engine.apply(match);
  return {};
}

Error at_step(size_t k, const Error& e) {
  return error("step " + std::to_string(k) + ": " + e.message);
}

}  // namespace

Replayer::Replayer(const Graph& g, const RuleIndex& rules, std::span<const AppliedRule> steps,
                   const cost::CostModel& model, const EngineOptions& options)
    : rules_(rules), steps_(steps), engine_(g, rules, model, options) {}

Result<Graph> Replayer::after(size_t count) {
  while (engine_.depth() > count) engine_.undo();
  while (engine_.depth() < count) {
    auto done = repeat(engine_, rules_, steps_[engine_.depth()]);
    if (!done) return at_step(engine_.depth(), done.error());
  }
  return engine_.to_graph();
}

Result<Graph> replay(const Graph& g, const RuleIndex& rules, std::span<const AppliedRule> steps,
                     const cost::CostModel& model, const EngineOptions& options,
                     const std::function<void(size_t step, const Engine&)>& seen) {
  Engine engine(g, rules, model, options);
  for (size_t k = 0; k < steps.size(); ++k) {
    auto done = repeat(engine, rules, steps[k]);
    if (!done) return at_step(k, done.error());
    if (seen) seen(k, engine);
    engine.commit();
  }
  return engine.to_graph();
}

}  // namespace regraft::rewrite

#pragma once
// A policy as a searcher.
#include "rewrite/search/searcher.h"
#include "rl/environment/policy.h"
#include "rl/planner/gumbel.h"

namespace regraft::rl {

enum class PolicyMode : uint8_t {
  Alone,      ///< one episode of what is most wanted, and nothing else: what was learned by itself
  Greedy,     ///< downhill by cost; then what is most probable, step by step, and downhill again
  Sampled,    ///< the same, then episodes of drawn actions until the budget is spent
  Scheduled,  ///< as greedy, then windows in the policy's order
  Planned,    ///< downhill, then each step planned with the engine, then windows in that order
  Proposed    ///< downhill, then what a first step proposed leads to nearby, see proposals.h
};
std::optional<PolicyMode> policy_mode_named(std::string_view name);
std::vector<std::string> policy_mode_names();

/// The reports' candidates are matches that were priced, as for all searchers.
class PolicySearch final : public rewrite::Searcher {
 public:
  PolicySearch(std::shared_ptr<const Policy> policy, PolicyMode mode, PlannerOptions planner = {})
      : policy_(std::move(policy)), mode_(mode), planner_(planner) {}
  rewrite::SearchReport search(const Graph& g, const rewrite::RuleIndex& rules,
                               const cost::CostModel& model, const rewrite::SearchOptions& options,
                               const Stop& stop) const override;

 private:
  std::shared_ptr<const Policy> policy_;
  PolicyMode mode_;
  PlannerOptions planner_;
};

}  // namespace regraft::rl

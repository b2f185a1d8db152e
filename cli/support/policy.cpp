#include "cli/support/policy.h"

#include "cli/support/report.h"
#include "rewrite/searchers.h"
#include "rl/policy_file.h"
#include "rl/search.h"

namespace regraft::cli {

std::string default_policy_file() { return shipped_policies_folder() + "/default.policy"; }

Result<std::unique_ptr<rewrite::Searcher>> searcher_of(const OptimizeFlags& flags,
                                                       const rewrite::RuleIndex& rules) {
  if (flags.search != "policy") return rewrite::make_searcher(flags.search);
  std::string file = flags.policy.empty() ? default_policy_file() : flags.policy;
  std::shared_ptr<const rl::Policy> policy;
  if (auto read = rl::read_policy(file, rules)) {
    policy = *std::move(read);
  } else if (!flags.policy.empty()) {
    return read.error();
  } else {
    tell("warning: " + read.error().message + "; the change of cost alone leads the search");
    policy = rl::cost_prior();
  }
  return std::unique_ptr<rewrite::Searcher>(
      std::make_unique<rl::PolicySearch>(policy, *rl::policy_mode_named(flags.policy_mode)));
}

}  // namespace regraft::cli

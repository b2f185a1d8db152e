#pragma once
// The searcher that a command uses, policies included.
#include <memory>

#include "cli/support/commands.h"
#include "rewrite/search/searcher.h"

namespace regraft::cli {

/// The file of the policy that comes with the project.
std::string default_policy_file();

/// The searcher that the flags name. A shipped policy that cannot be read, or does not fit, is
/// replaced by the exact changes of cost, with a warning on stderr; one that was asked for is an
/// Error then. `rules` outlive it.
Result<std::unique_ptr<rewrite::Searcher>> searcher_of(const OptimizeFlags& flags,
                                                       const rewrite::RuleIndex& rules);

}  // namespace regraft::cli

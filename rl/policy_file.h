#pragma once
// Policies in files, whatever made them.
#include "rl/network/network_file.h"

namespace regraft::rl {

/// An Error names the file: not a policy, of other features, damaged.
Result<std::unique_ptr<Policy>> read_policy(const std::string& path,
                                            const rewrite::RuleIndex& rules);
/// The same of what a file held; `name` is that of the file.
Result<std::unique_ptr<Policy>> policy_of(const Checkpoint& file, const rewrite::RuleIndex& rules,
                                          const std::string& name);

}  // namespace regraft::rl

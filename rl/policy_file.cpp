#include "rl/policy_file.h"

#include "rl/world/world_model.h"

namespace regraft::rl {

Result<std::unique_ptr<Policy>> read_policy(const std::string& path,
                                            const rewrite::RuleIndex& rules) {
  ASSIGN_OR_RETURN(Checkpoint file, read_checkpoint(path));
  return policy_of(file, rules, path);
}

Result<std::unique_ptr<Policy>> policy_of(const Checkpoint& file, const rewrite::RuleIndex& rules,
                                          const std::string& name) {
  if (file.kind == kWorldModel) {
    auto controller = read_controller(file, rules);
    if (!controller) return error(name + ": " + controller.error().message);
    return controller;
  }
  auto network = read_network(file, kNetworkPolicy);
  if (!network) return error(name + ": " + network.error().message);
  return network_policy(*network, describe(rules), name);
}

}  // namespace regraft::rl

#include "rl/policy_file.h"

#include "rl/world_model.h"

namespace regraft::rl {

Result<std::unique_ptr<Policy>> read_policy(const std::string& path,
                                            const rewrite::RuleIndex& rules) {
  ASSIGN_OR_RETURN(Checkpoint file, read_checkpoint(path));
  if (file.kind == kWorldModel) {
    auto controller = read_controller(file, rules);
    if (!controller) return error(path + ": " + controller.error().message);
    return controller;
  }
  auto network = read_network(file, kNetworkPolicy);
  if (!network) return error(path + ": " + network.error().message);
  return network_policy(*network, describe(rules), path);
}

}  // namespace regraft::rl

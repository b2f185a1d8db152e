// Policies: checkpoints that hold a network or a controller.
#include "rl/network/network_file.h"
#include "rl/policy_file.h"
#include "rl/world/world_model.h"
#include "tests/fuzz/checkpoints.h"
#include "tests/fuzz/fuzz.h"

namespace regraft {
namespace {

void read(const rl::Checkpoint& file) {
  auto policy = rl::policy_of(file, fuzz::some_rules(), "file");
  if (!policy) return fuzz::check_message(policy.error());
  CLAIM(!(*policy)->description().empty(), "every policy says what it is");
}

}  // namespace

std::vector<fuzz::Seed> fuzz::seeds() {
  auto network = rl::network_file(some_network(), rl::kNetworkPolicy);
  auto world = rl::controller_file(some_world(), some_rules());
  return {{"network", body_of(network)}, {"controller", body_of(world)}};
}

}  // namespace regraft

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (auto file = regraft::fuzz::read_checkpoint(regraft::fuzz::text_of(data, size)))
    regraft::read(*file);
  return 0;
}

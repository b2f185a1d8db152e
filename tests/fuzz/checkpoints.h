#pragma once
// What the targets that read checkpoints of trainings share. Their input is the body of a
// checkpoint; the digest, which a fuzzer could not guess, is made to fit.
#include <optional>
#include <string>
#include <string_view>

#include "rl/files/checkpoint.h"
#include "rl/network/network.h"
#include "rl/world/world_model.h"

namespace regraft::fuzz {

/// The checkpoint with this body; nothing when it is refused. The bytes are read as a whole file
/// too, and what was read is written and read again.
std::optional<rl::Checkpoint> read_checkpoint(std::string_view body);
/// Inverse of read_checkpoint.
std::string body_of(const rl::Checkpoint& checkpoint);

/// Few rules, and the smallest networks for them.
const rewrite::RuleIndex& some_rules();
rl::Network some_network();
rl::WorldModel some_world();

}  // namespace regraft::fuzz

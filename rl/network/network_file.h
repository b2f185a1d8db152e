#pragma once
// Networks in files, and as policies.
#include "rl/files/checkpoint.h"
#include "rl/network/network.h"

namespace regraft::rl {

/// The kind of files that hold a network and nothing else.
constexpr const char* kNetworkPolicy = "network-policy";

/// All of a network: its options, and its parameters under their names. What belongs to an operator
/// is kept under the operator's name.
Checkpoint network_file(const Network& network, const std::string& kind);
/// The network of a file of that kind. Operators that the file does not know begin at what it has
/// for opaque nodes; those that are no more are left out. An Error says what does not fit.
Result<Network> read_network(const Checkpoint& file, const std::string& kind);

/// `rules` are those that observations are of. `name`: for the description.
std::unique_ptr<Policy> network_policy(const Network& network, const RuleTable& rules,
                                       const std::string& name);

}  // namespace regraft::rl

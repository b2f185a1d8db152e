#pragma once
// Derivations for what the symbolic prover proves: found here, outside of the kernel, which checks
// them.
#include <optional>
#include <string>

#include "ir/rule/rule.h"

namespace regraft::verify {

/// A derivation that the kernel accepts, or where the attempt to find one ended.
struct Elaboration {
  std::optional<std::string> derivation;
  std::string missing;
};

/// Deterministic; the work is bounded. May make symbols in the instance's pool.
Elaboration elaborate(const RuleInstance& instance);

}  // namespace regraft::verify

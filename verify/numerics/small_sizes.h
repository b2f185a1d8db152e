#pragma once
// Instances whose sizes are numbers, made small enough to be looked at step by step.
#include <optional>

#include "ir/rule/rule.h"

namespace regraft::verify {

/// The instance with the large numbers among its inputs' sizes replaced by small ones, alike
/// wherever they occur, also in attributes; a product of such numbers by the product. nullopt: the
/// operators do not take what then stands there, or its sides differ on a sample. Of a proved
/// instance it is a sample at other sizes, not proved itself. Deterministic in the seed.
std::optional<RuleInstance> with_small_sizes(const RuleInstance& instance, uint64_t seed);

}  // namespace regraft::verify

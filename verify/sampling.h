#pragma once
// Small shapes and attributes at which a rule's left side is well formed.
#include <vector>

#include "ir/rule.h"

namespace regraft::verify {

/// Values of all Size symbols of an instance that satisfy requires_lhs and keep every shape small:
/// up to `count` distinct ones, smallest first; empty when none was found. Mixes pairwise distinct
/// sizes, sizes that may coincide, and sizes of 1. Deterministic in the seed.
std::vector<Valuation> sample_sizes(const RuleInstance& instance, uint64_t seed, size_t count);

/// "a=[2,3] b=[3] s.0=2": the inputs' shapes and the attribute variables.
std::string describe(const RuleInstance& instance, const Valuation& sizes);

/// Elements of all values of both graphs at these sizes; -1 when a shape is not positive.
int64_t total_elements(const RuleInstance& instance, const Valuation& sizes);

}  // namespace regraft::verify

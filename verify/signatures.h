#pragma once
// Shapes at which a rule is worth proving: ranks and broadcast patterns that occur in models.
#include <vector>

#include "ir/rule/rule.h"

namespace regraft::verify {

/// A signature that fits the rule, with its instance.
struct Candidate {
  Signature signature;
  RuleInstance instance;
};

/// Up to `limit` signatures at which both sides have a form, plain ones first: all variables of one
/// rank, then some of another rank (a weight, a bias, a scale for each channel, a mask), then of
/// two others. A size that the left side lets be nothing but 1 is said to be 1. Deterministic.
std::vector<Candidate> candidate_signatures(const Rule& rule, size_t limit);

}  // namespace regraft::verify

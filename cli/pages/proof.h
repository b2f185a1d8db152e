#pragma once
// What can be told of a rule's proof as the prover sees it: its input and its normal forms,
// computed as it does. told_proof.h tells what the kernel checks.
#include <string>

#include "ir/rule/rule.h"

namespace regraft::cli {

/// HTML: at the rule's first signature the sizes and what is assumed of them, what the right side
/// needs, both sides' elements as the prover sees them, and how far it got. Never fails: what is
/// too large is said to be so. Takes milliseconds, rarely seconds; deterministic unless it is
/// interrupted; thread-safe for rules that do not share a pool.
std::string proof_of(const Rule& rule);

}  // namespace regraft::cli

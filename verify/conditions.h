#pragma once
// Under which condition does a rule hold that does not hold as it stands?
#include <optional>

#include "base/parallel.h"
#include "verify/verify.h"

namespace regraft::verify {

/// The rule with the weakest condition added to its `where` under which it is proved for all sizes
/// at the signature. nullopt: it has no counterexample there that sampling finds, or none of the
/// conditions tried both excludes every counterexample and leaves something. A condition is a
/// conjunction of up to three equations
///  - between two sizes, an attribute variable and a size, or two attribute variables;
///  - of an attribute variable with 0, 1 or 2;
///  - that the right side requires, or that make the outputs' shapes equal (sums and quotients of
///    sizes, so divisibility as well);
/// or inequalities: those that the right side requires, and between two attribute variables.
/// Fewer and plainer conditions come first; of equally plain ones the weakest that is found.
/// Deterministic in options.seed.
std::optional<Rule> with_condition(const Rule& rule, const Signature& signature,
                                   const VerifyOptions& options, const Stop* stop);

}  // namespace regraft::verify

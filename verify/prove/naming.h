#pragma once
// Names for sizes that are sums or quotients, so that what is divided by one is divided by a
// symbol.
#include <optional>

#include "ir/rule/rule.h"
#include "verify/prove/prover.h"

namespace regraft::verify {

/// The domain where each size of a tensor that is a sum or a quotient, such as that of a
/// convolution, has a symbol of its own, and a symbol of the sum is expressed by it. What is known
/// of the symbols that are replaced stays in the domain as literals. A quotient is a key of the
/// substitution by itself, so what has been substituted is to be substituted again. nullopt: there
/// is no such size.
std::optional<SolvedDomain> with_named_sizes(const RuleInstance& instance, SolvedDomain solved,
                                             ArithmeticSolver& solver);

}  // namespace regraft::verify

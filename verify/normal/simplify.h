#pragma once
// The normal form of sums of guarded products: what is pinned is substituted, what is empty is
// dropped, what nothing reads is counted, and functions see arguments without foreign guards.
#include "verify/normal/context.h"

namespace regraft::verify {

/// A sum that is equal to `sum` for all values of the symbols in the domain, by equalities that
/// hold over the reals; functions are opaque, but for a few facts, unless the Context has laws.
/// Throws OutOfBudget when the budget is used up.
Sum normal_form(const Sum& sum, const Context& context);

}  // namespace regraft::verify

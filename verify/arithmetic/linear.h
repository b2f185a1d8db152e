#pragma once
// Linear integer arithmetic by elimination: what most questions of a proof need, without a solver.
#include "ir/algebra/formula.h"
#include "verify/arithmetic/elimination.h"

namespace regraft::verify {

/// Decides a conjunction with each product of symbols as one integer. The work is bounded, and
/// depends on nothing but the facts.
Decision decide_linear(const Conjunction& facts);

/// `facts` and what follows of products that occur in them: facts times what is not negative, and
/// the cases of a factor's sign. Lets linear arithmetic see more.
Conjunction with_products(const Conjunction& facts);

}  // namespace regraft::verify

#pragma once
// Linear integer arithmetic by elimination: what most questions of a proof need, without a solver.
#include <vector>

#include "ir/algebra/formula.h"

namespace regraft::verify {

enum class Decision : uint8_t {
  Refuted,      ///< no integers satisfy the facts
  Satisfiable,  ///< some do, where each product of symbols is an integer of its own
  Open,         ///< too many inequalities or cases, or numbers that elimination rounds
};

/// Decides a conjunction with each product of symbols as one integer. The work is bounded, and
/// depends on nothing but the facts.
Decision decide_linear(const Conjunction& facts);

/// The sum of c[i] * x[i], plus k, is not negative or, if strict, positive.
struct Inequality {
  std::vector<int64_t> c;
  int64_t k = 0;
  bool strict = false;
};
/// No real numbers satisfy all of them, which have as many columns each, with numbers below 2^30.
/// The work is bounded; false says nothing.
bool no_reals(const std::vector<Inequality>& facts);

/// `facts` and what follows of products that occur in them: facts times what is not negative, and
/// the cases of a factor's sign. Lets linear arithmetic see more.
Conjunction with_products(const Conjunction& facts);

}  // namespace regraft::verify

#pragma once
// Factors that leave sums.
#include <optional>
#include <vector>

#include "verify/normal/context.h"

namespace regraft::verify {

/// The atoms that all products of a sum have in common and that mention neither certain variables
/// nor a bound variable of a product; and the sum without them.
struct Factored {
  std::vector<Atom> factors;
  Sum rest;
};
/// REQUIRES: s has products.
Factored common_factors(const Sum& s, const std::vector<Var>& inner, const Context& context);

/// A sum as outside * inside, where outside is not negative.
struct Scaled {
  Sum outside, inside;
};
/// By the common factors `within` the sum's own context whose signs are known, squares too, in the
/// `context` around it. nullopt: it would be 1.
std::optional<Scaled> positive_factor(const Sum& s, const std::vector<Var>& inner,
                                      const Context& within, const Context& context);

}  // namespace regraft::verify

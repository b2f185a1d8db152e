#pragma once
// What the scalar functions satisfy: exp of a sum is a product, x times 1/x is 1, roots, relu.
// Every law holds over the reals wherever both of its sides are defined. A quotient is taken as
// defined: its user shows beforehand that the denominators of one side are not 0 where the other
// side is defined.
#include <optional>

#include "verify/normal/context.h"

namespace regraft::verify {

/// What the atom, whose argument is in normal form, is equal to; nullopt: no law applies.
std::optional<Sum> rewritten(const Atom& a, const Context& context);
/// The product with two of its atoms made one or none; nullopt: no law applies.
std::optional<Sum> combined(const Product& p, const Context& domain);
/// The sum with products that are the same but for their coefficients made one.
Sum merged(Sum s, const Context& context);

/// What a function that rounds makes of what is rounded so already.
std::optional<Sum> whole(const Atom& a);
/// What a function that jumps makes of a number, of a whole summand, and of a known sign.
std::optional<Sum> jumping(const Atom& a, const Context& context);

/// What a maximum, whose argument is in normal form, is equal to; nullopt: no law applies.
/// max(f + c) = max(f) + c, max(c f) = c max(f), max max f = max f, max(g(f)) = g(max f).
std::optional<Sum> maximum(const Atom& a, const Context& context);
/// max g(x) = g(max x) for g that increases: a sum of x, of increasing functions of x and of
/// products of such that are not negative (x relu(x) is a square). Of a x + b relu(x) both slopes
/// count, a and a + b. REQUIRES: the range of maximum a has an element.
std::optional<Sum> through_monotone(const Atom& a, const Context& context);

}  // namespace regraft::verify

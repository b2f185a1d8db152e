#pragma once
// Index ranges: which values they have, and sums over them as loops that are unrolled, split and
// counted.
#include <optional>
#include <vector>

#include "verify/normal/context.h"

namespace regraft::verify {

/// low <= v <= high from literals that bound v by numbers.
struct ConstantRange {
  int64_t low, high;
};
std::optional<ConstantRange> constant_range(const Conjunction& guard, Var v);

/// Some values of these variables satisfy `guard`.
bool not_empty(const std::vector<Var>& bound, const Conjunction& guard, const Context& context);
/// The range of a maximum has an element.
bool has_element(const Atom& a, const Context& context);

/// A loop over at most 8 numbers as that many products.
std::optional<Sum> unrolled(const Product& p);
/// A loop over k with floor(k / d) in it becomes two loops: k = d*u + w with 0 <= w < d. False:
/// there is none.
bool split_loop(Product& p, const Context& context);
/// A loop whose variable nothing reads becomes a factor: its length. False: there is none.
bool count_loop(Product& p, const Context& outer);

}  // namespace regraft::verify

#pragma once
// Is a sum of guarded products zero? Products cancel in pairs that are equal after a renaming of
// bound variables which is shown to be a bijection of their ranges. All answers are sound, not
// complete: false means "not shown". Throws OutOfBudget when the budget of the Context is used up.
#include <optional>
#include <vector>

#include "verify/normal/context.h"

namespace regraft::verify {

/// The sum is 0 for all values of the symbols in the domain.
bool is_zero(const Sum& sum, const Context& context);

/// What is left of the sum in normal form when products that are equal up to sign are taken away in
/// pairs; and of that a product whose coefficients are not shown to add up to 0, if there is one.
struct Remainder {
  Sum sum;
  std::optional<Product> open;  ///< nullopt: the sum is 0
};
Remainder remainder_of(const Sum& sum, const Context& context);

/// The two are the same number.
bool same_value(const Sum& a, const Sum& b, const Context& context);
/// `value` is what `known` says for some values of its bound variables. Its products are as many as
/// those of the known value, or the Context is thorough.
bool covers(const Known& known, const Sum& value, const Context& context);
/// The two are the same number, and sums of the same outline.
bool equal(const Sum& a, const Sum& b, const Context& context);
/// The two are the same factor: by their outline, and at the positions that they name.
bool same_atom(const Atom& a, const Atom& b, const Context& context);
/// The same, for sums that need not have the same outline.
bool same_factor(const Atom& a, const Atom& b, const Context& context);

/// Two maxima are equal: their arguments are, over the same range, or each value of one is a value
/// of the other. b is over a's free variables.
bool same_maximum(const Atom& a, const Atom& b, const Context& context);
/// `value` is one of those of maximum b; `variables` may stand for what nothing determines.
bool takes_value(const Sum& value, const Atom& b, const std::vector<Var>& variables,
                 const Context& context);

}  // namespace regraft::verify

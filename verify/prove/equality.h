#pragma once
// Are two formulas equal wherever the first is defined? Sound, not complete. Throws OutOfBudget.
#include <optional>
#include <string>
#include <vector>

#include "ir/rule/rule.h"
#include "verify/normal/context.h"

namespace regraft::verify {

/// A quotient or root that is evaluated: its argument, and when.
struct Partial {
  Fn function = Fn::Recip;
  Sum argument;
  std::vector<Var> bound;
  Conjunction guard;
};

/// A formula and the partial functions that are evaluated with it. What a factor 0 takes out of the
/// formula is evaluated all the same.
struct Side {
  Sum value;
  std::vector<Partial> partial;
  std::vector<Product> maxima;  ///< each where it is evaluated
};

/// ProvedSolver: for all values of the symbols in the domain, where `left` is defined (no 1/0, no
/// root of a negative number), `right` is too and they are equal. Otherwise Unknown, with the place
/// at which the attempt ended. Cheap attempts come first, then the laws of functions.
Verdict prove_equal(const Side& left, const Side& right, const Context& context);

// The parts of it. First: is the right side defined where the left one is?

/// The Context where no count that the left side divides by is 0: some element is counted.
Context where_defined(const Side& left, const Context& context);
/// With the laws in use, the Context of what the left side says: its denominators are not 0, and
/// what stands under its roots is not negative.
Context learn_from(const Side& left, const Context& context);

/// The partial functions of the right side that are none of the left's and whose argument has no
/// sign at first sight.
std::vector<const Partial*> open_partials(const Side& left, const Side& right,
                                          const Context& context);
/// Why x may be undefined where the left side is defined, which is what the Context knows; nullopt:
/// it is not.
std::optional<std::string> why_undefined(const Partial& x, Context context);

/// Where the maxima of the left side are of something, those of the right side are.
bool has_maxima(const Sum& left, const Sum& right, const Context& context);
/// Each maximum that is evaluated on the right is one of the left's, of something, or in the
/// formula wherever it is evaluated; then what is shown of the formula shows that it is of
/// something.
bool keeps_maxima(const Side& left, const Side& right, const Context& context);

/// Last: the sum is 0, where it is defined, by the laws of functions, without denominators, and
/// with cases distinguished. The Context has what is known of the denominators.
bool zero_by_laws(const Sum& sum, const Context& context);

}  // namespace regraft::verify

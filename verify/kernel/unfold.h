#pragma once
// What a rule claims at one signature, in the kernel's terms: the formulas of the operators, and
// nothing that simplifies them.
#include "ir/algebra/tree/syntax.h"
#include "ir/rule/rule.h"
#include "verify/kernel/term.h"
#include "verify/kernel/translation.h"

namespace regraft::kernel {

/// A function that is not defined everywhere, a quotient of whole numbers, or a maximum; evaluated
/// for all values of `bound` that satisfy `guard`.
struct Partial {
  Atom atom;
  std::vector<Symbol> bound;
  std::vector<Fact> guard;
};

struct Unfolded {
  Sum sum;
  /// What is evaluated; a factor 0 takes nothing out of it. What a choice may leave out counts on
  /// the right side of a claim, and not on the left.
  std::vector<Partial> partial;
};

enum class Choices : uint8_t { Count, LeaveOut };

/// `choices` says whether what a choice may leave out is among the partial functions.
Unfolded unfold(Translation& translation, const SyntaxTree& tree, Choices choices);

/// Wherever `given` holds, `needed` holds, and wherever what `left` evaluates is defined, what
/// `right` evaluates is, and the two are equal.
struct OutputClaim {
  std::vector<Fact> given, needed;
  Unfolded left, right;
};
/// Wherever `given` holds, `needed` does, and so does what the outputs claim.
struct Claim {
  std::vector<Fact> given, needed;
  std::vector<OutputClaim> outputs;
};
/// Refused when a side has a node without a formula, or a real attribute that is computed. What the
/// rule says of real attributes is not assumed.
Claim claim_of(Translation& translation, const RuleInstance& instance);

}  // namespace regraft::kernel

#pragma once
// What a rule claims at one signature, in the kernel's terms: the formulas of the operators, and
// nothing that simplifies them.
#include "ir/algebra/tree/syntax.h"
#include "ir/rule/rule.h"
#include "verify/kernel/signs.h"
#include "verify/kernel/translation.h"

namespace regraft::kernel {

Sum function_of(Fn f, Sum x);

/// A function that is not defined everywhere, a quotient of whole numbers, or a maximum; evaluated
/// for all values of `bound` that satisfy `guard`.
struct Partial {
  Atom atom;
  List<Symbol> bound;
  List<Fact> guard;
};

struct Unfolded {
  Sum sum;
  /// What is evaluated; a factor 0 takes nothing out of it. What a choice may leave out counts on
  /// the right side of a claim, and not on the left.
  std::vector<Partial> partial;
};

/// The same text, the same number: "?" and a variable, or "#" and the bits of a double as an
/// integer.
std::string real_text(const Real& r);

enum class Choices : uint8_t { Count, LeaveOut };

/// `choices` says whether what a choice may leave out is among the partial functions.
Unfolded unfold(Translation& translation, const SyntaxTree& tree, Choices choices);

/// What a rule says of an output at one signature, in the words of the operators: at a position
/// that lies within the shape, the right side's formulas require something of sizes, and each side
/// is an expression.
struct OutputFormulas {
  std::vector<regraft::Poly> position, shape;
  std::vector<Formula> required;
  SyntaxTree left, right;
};
struct Formulas {
  std::vector<Formula> given, needed;
  std::vector<RealCondition> real_given;
  SymbolPool* pool = nullptr;  ///< of the names in real_given
  std::vector<OutputFormulas> outputs;
};
/// Refused when a side has a node without a formula. The instance must outlive it.
Formulas formulas_of(const RuleInstance& instance);

/// Wherever `given` holds, `needed` holds, and wherever what `left` evaluates is defined, what
/// `right` evaluates is, and the two are equal.
struct OutputClaim {
  List<Fact> given;
  std::vector<Fact> needed;
  Unfolded left, right;
  List<Known> known = {};  ///< what is given of real numbers
};
/// Wherever `given` holds, `needed` does, and so does what the outputs claim.
struct Claim {
  std::vector<Fact> given, needed;
  std::vector<OutputClaim> outputs;
};
/// The claim in the kernel's words.
Claim claim_of(Translation& translation, const Formulas& formulas);
inline Claim claim_of(Translation& translation, const RuleInstance& instance) {
  return claim_of(translation, formulas_of(instance));
}

}  // namespace regraft::kernel

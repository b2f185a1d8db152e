#pragma once
// Why a rule does not apply where its left side lies.
#include "rewrite/match/discrimination_tree.h"

namespace regraft::rewrite {

/// What stopped a rule at a place. From what was met first to what was met last: of several
/// signatures the one that got furthest counts.
struct Misfit {
  enum Kind : uint8_t {
    None,       ///< nothing: it fits
    Attribute,  ///< an attribute is not the one that the left side names
    Equality,   ///< two operands that must be one value are two
    Unknown,    ///< the type of an operand is not known; or sizes beyond 64 bits
    Float16,    ///< its numerics are not enough for float16
    Ranks,      ///< no signature of the rule has operands of these ranks
    Ones,       ///< a size must be 1 for the signature
    Axes,       ///< axes do not fit each other, or a condition on them does not hold
    Sizes,      ///< sizes that the signature has equal are not
    Number,     ///< an attribute does not agree with sizes or with other attributes
    Data,       ///< a constant is not the one that the left side makes
    Range,      ///< a size or an attribute is below the least that was proved
    Condition,  ///< a condition of the rule is not known to hold
    RightSide,  ///< the right side cannot be made there, or is of another type
    Empty,      ///< it might not hold where a symbolic size is 0
    Fusion,     ///< it would take apart what the runtime computes together
    Effect,     ///< it would change nothing, make a cycle, or a call that cannot be written
  };
  Kind kind = None;
  int32_t signature = -1;  ///< of the rule's domain
  int32_t item = -1;  ///< Attribute, Axes, Number, Data: pattern node; Ones, Sizes: variable
  int32_t part = -1;  ///< Attribute, Axes, Number: integer attribute, then reals; Ones, Sizes: axis
  /// Condition: what would have to hold, over the rule's sizes; nullptr: one of real attributes.
  std::shared_ptr<const Formula> condition;
};

/// "its axis is 1, not -1", "proved for ranks 2 2, here 4 4", ..: the sentence's subject is what
/// lies at the place. REQUIRES: a misfit of that rule there.
std::string to_string(const Misfit& misfit, const CompiledRule& rule, const LiveGraph& g,
                      const Place& place);

}  // namespace regraft::rewrite

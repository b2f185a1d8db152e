#pragma once
// A pair of terms with attributes left open, and the rule that it is.
#include <functional>

#include "gen/grammar/terms.h"
#include "ir/rule/rule.h"

namespace regraft::gen {

enum class Part : uint8_t { Left, Right };

/// An integer attribute of a call of one side.
struct AttrKey {
  Part part = Part::Left;
  int call = 0;     ///< TermNode::call
  size_t attr = 0;  ///< index of the attribute
  auto operator<=>(const AttrKey&) const = default;
};

/// What an attribute becomes in the rule.
struct Form {
  std::string list;           ///< the list variable ?list, or empty:
  std::vector<Poly> numbers;  ///< one for each number
};
using Plan = std::map<AttrKey, Form>;

/// lhs => rhs under conditions. Attributes without a form keep their numbers. Polynomials are over
/// `pool` and its symbols named as in rules: "?p1" is an attribute variable, "x2.-1" the last
/// extent of the second of rule_leaves().
struct TemplatePair {
  TermId lhs = -1, rhs = -1;
  Plan plan;
  std::vector<Condition> where;
  std::shared_ptr<SymbolPool> pool = std::make_shared<SymbolPool>();
};

/// The symbol of an extent of leaf number `leaf` of a rule. Matrices count axes from the end, so
/// that batches of matrices match too.
Var extent_of(SymbolPool& pool, size_t leaf, size_t rank, size_t axis);
/// The rule lhs => rhs of single outputs over the pair's pool. REQUIRES: leaves of rhs occur in
/// lhs.
Rule to_rule(const Bank& bank, const TemplatePair& pair);
/// For each variable of the rule, in order: the leaf that it is.
std::vector<TermId> rule_leaves(const Bank& bank, TermId lhs);
/// Their shapes: "n" for an extent, "1" for one of 1.
Signature leaf_signature(const Bank& bank, TermId lhs);

/// What attribute variables stand for: list variables, and symbols of number variables.
struct AttrBinding {
  std::map<std::string, std::vector<int64_t>> lists;
  Valuation numbers;
};
/// Binds what a form says of an attribute's numbers; expressions are not checked. nullopt when the
/// form has other numbers.
std::optional<AttrBinding> bind(const Form& form, const std::vector<int64_t>& numbers,
                                AttrBinding known);
/// The numbers of a form. `extent(variable, axis)` is an extent of a leaf. nullopt when a variable
/// has no value.
std::optional<std::vector<int64_t>> numbers_of(
    const Form& form, const AttrBinding& known,
    const std::function<int64_t(size_t variable, int axis)>& extent);

}  // namespace regraft::gen

#pragma once
// Real attributes that are computed from others, and conditions between them, in proofs.
#include <optional>
#include <string>

#include "ir/rule/rule.h"
#include "verify/normal/context.h"

namespace regraft::verify {

/// The sum with what expressions stand for in the place of their symbols: real numbers, so that 1/6
/// is a sixth; and with what a condition says that an attribute is, for the attribute.
Sum with_expressions(Sum sum, const RuleInstance& instance);
/// The Context with what the conditions of the rule say of its real attributes.
Context learn_conditions(Context context, const RuleInstance& instance, const Substitution& sizes);
/// An expression of an instance that may divide by 0.
std::optional<std::string> undefined_expression(const RuleInstance& instance,
                                                const Substitution& sizes, const Context& context);

}  // namespace regraft::verify

#pragma once
// Element types in rules. A variable stands for tensors of any type that its operators take, so a
// side says little of types; but numbers are no truth values.
#include <string>

#include "ir/rule/rule.h"

namespace regraft::verify {

/// Why no model has both sides, whatever the types of its tensors: one output is of truth values
/// and the other of numbers, or an operator of the right side that wants truth values gets numbers.
/// Empty: some may.
std::string wrong_types(const RuleInstance& instance);

}  // namespace regraft::verify

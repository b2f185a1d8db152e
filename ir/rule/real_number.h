#pragma once
// Real attributes that a rule can mean.
#include "ir/rule/rule.h"

namespace regraft {

/// An Error unless each real attribute is a variable, depends on names, or has a finite value; one
/// that bounds what may be anything may also be infinite, as where it is not given.
Status check_reals(const PatternNode& node);

}  // namespace regraft

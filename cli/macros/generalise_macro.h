#pragma once
// From several rewrites at one place to a rule for many.
#include <optional>

#include "rewrite/macros/compose.h"

namespace regraft::cli {

/// The rule with list variables in place of attributes, sizes in place of numbers, and real
/// variables, as far as it holds at random shapes (gen/generalise/check.h). nullopt when it holds
/// at the sizes of its place only. A candidate still: nothing is proved. Deterministic.
std::optional<Rule> generalise_macro(const rewrite::Composed& composed);

}  // namespace regraft::cli

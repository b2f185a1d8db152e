#pragma once
// From several rewrites at one place to a rule for many.
#include <optional>

#include "rewrite/macros/compose.h"

namespace regraft::cli {

/// A composition without conditions that it does not need, with any size in place of 1 and real
/// variables in place of numbers, as far as it holds at random shapes (gen/generalise/check.h);
/// with the numbers of its place where no shapes are found for others. nullopt when it does not
/// hold. A candidate still: nothing is proved. Deterministic.
std::optional<Rule> generalise_macro(const rewrite::Composed& composed);

}  // namespace regraft::cli

#pragma once
// Numbers that are not negative, with which columns add up to a right side.
#include <optional>
#include <vector>

#include "verify/kernel/term.h"

namespace regraft::verify {

/// x >= 0 such that the columns times x are b, by the simplex method, exactly; nullopt: there are
/// none, or numbers grew too large.
std::optional<std::vector<kernel::Fraction>> combination(
    const std::vector<std::vector<kernel::Fraction>>& columns,
    const std::vector<kernel::Fraction>& b);

}  // namespace regraft::verify

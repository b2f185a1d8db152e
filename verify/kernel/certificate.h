#pragma once
// Certificates for facts about sizes: why no integers satisfy certain facts, step by step. The
// checker follows the steps; it looks for nothing. docs/kernel.md has each step with its premises,
// its conclusion and its side conditions.
#include <string_view>
#include <vector>

#include "verify/kernel/facts.h"

namespace regraft::kernel {

/// Accepts when the certificate shows that no integers satisfy all of `facts`; else throws Refused.
/// Facts are numbered: 0 is 1 >= 0, those given follow from 1 on, and each step adds its
/// conclusions; `All` counts as its parts, one after the other. Steps are separated by ";" or line
/// ends.
void check_unsatisfiable(Symbols& symbols, const std::vector<Fact>& facts,
                         std::string_view certificate);

}  // namespace regraft::kernel

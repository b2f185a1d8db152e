#pragma once
// Certificates for what the arithmetic solver shows: found here, outside of the kernel, which
// checks them.
#include <optional>
#include <string>
#include <vector>

#include "verify/kernel/facts.h"

namespace regraft::verify {

/// A certificate that no integers satisfy all of `facts`, as kernel::check_unsatisfiable takes it;
/// nullopt: none was found. The work is bounded, and depends on nothing but the facts. May make
/// symbols (quotients).
std::optional<std::string> find_certificate(kernel::Symbols& symbols,
                                            const std::vector<kernel::Fact>& facts);

}  // namespace regraft::verify

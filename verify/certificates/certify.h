#pragma once
// Certificates for what the arithmetic solver shows: found here, outside of the kernel, which
// checks them.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "verify/kernel/facts.h"

namespace regraft::verify {

/// How hard to look: with the facts as they are; with what equalities express replaced first; with
/// products of symbols too that did not occur so far.
enum class Effort : uint8_t { Plain, Settled, Wide };

/// A certificate that no integers satisfy all of `facts`, as kernel::check_unsatisfiable takes it;
/// nullopt: none was found. The work is bounded, and depends on nothing but the facts. May make
/// symbols (quotients).
std::optional<std::string> find_certificate(kernel::Symbols& symbols,
                                            const std::vector<kernel::Fact>& facts,
                                            Effort most = Effort::Wide);

}  // namespace regraft::verify

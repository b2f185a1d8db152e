#pragma once
// The steps of derivations in words.
#include <string>
#include <string_view>

#include "verify/replay/notation.h"

namespace regraft::verify {

/// A line of a derivation as a sentence; certificates are left out. A step of no known kind stands
/// as it is.
std::string sentence(std::string_view line, const KernelNotation& notation);
/// How many blocks of further lines, each up to a line `end`, follow a line of this kind: at least.
int blocks_of(std::string_view line);
/// Its certificates, set off by "; then "; empty: it has none.
std::string certificates_of(std::string_view line);

}  // namespace regraft::verify

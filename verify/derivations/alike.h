#pragma once
// Claims that are much alike: the rule at other signatures, and other members of a family.
#include <map>
#include <string>

#include "verify/kernel/unfold.h"

namespace regraft::verify {

/// What the claim is made of, without the names of its symbols and the ranks of its inputs: where
/// two differ in that, a derivation of one is none of the other.
std::string outline_of(const kernel::Claim& claim);

/// How its products are built, up to the names of symbols: claims of the same structure most often
/// have derivations alike.
std::string structure_of(const kernel::Symbols& symbols, const kernel::Claim& claim);

/// Names of one claim's symbols, where those at the same places of the other one have others.
using Renaming = std::map<std::string, std::string, std::less<>>;
Renaming names_of(const kernel::Symbols& from, const kernel::Claim& a, const kernel::Symbols& to,
                  const kernel::Claim& b);

}  // namespace regraft::verify

#pragma once
// Claims that are much alike: the rule at other signatures, and other members of a family.
#include <map>
#include <string>
#include <vector>

#include "verify/kernel/unfold.h"

namespace regraft::verify {

/// A claim as texts, which say where a derivation of one may be one of another.
struct ClaimTexts {
  /// What it is made of, without the names of symbols and the ranks of its inputs: where two differ
  /// in that, a derivation of one is none of the other.
  std::string outline;
  /// How its products are built, up to the names of symbols: claims of the same structure most
  /// often have derivations alike.
  std::string structure;
  /// Its facts and products.
  std::vector<std::string> pieces;
  /// What is given, by the numbers of certificates less 1: of the claim, and of each output.
  std::vector<std::vector<std::string>> given;
};
ClaimTexts texts_of(const kernel::Symbols& symbols, const kernel::Claim& claim);

/// Names of one claim's symbols, where those at the same places of the other one have others.
using Renaming = std::map<std::string, std::string, std::less<>>;
Renaming names_of(const kernel::Symbols& from, const kernel::Claim& a, const kernel::Symbols& to,
                  const kernel::Claim& b);

}  // namespace regraft::verify

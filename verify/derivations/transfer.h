#pragma once
// A derivation of one claim, made to fit another one that is much like it.
#include <memory>
#include <optional>

#include "verify/derivations/alike.h"
#include "verify/derivations/questions.h"

namespace regraft::verify {

/// A claim that has a derivation.
struct Shown {
  std::string derivation, outline, structure;
  size_t search = 0;                ///< which one found it, or what it was made of
  std::vector<std::string> pieces;  ///< the claim's facts and products, as texts
  std::shared_ptr<const kernel::Symbols> symbols;
  std::shared_ptr<const kernel::Claim> claim;
};

std::vector<std::string> pieces_of(const kernel::Symbols& symbols, const kernel::Claim& claim);
/// How many pieces of what is shown the other claim, with these pieces, does not have: a guess at
/// how well the derivation fits.
size_t strangers(const Shown& shown, const kernel::Symbols& symbols, const kernel::Claim& claim,
                 const std::vector<std::string>& pieces);

/// For each output of the claim the lines that say which sizes are equal: those of what is shown
/// that hold here as well, and positions that the facts say to be 0.
std::vector<std::string> sizes_like(const Shown& shown, const kernel::Claim& claim,
                                    Questions& questions);
/// The steps of the derivation for another claim, in the symbols of `questions`: what stands at the
/// same places of the two claims gets the same name, and facts get their numbers. Nothing is
/// checked; nullopt: it has other parts. `sizes`: for each output its lines that say which sizes
/// are equal.
std::optional<std::string> translated(const Shown& shown, const kernel::Claim& claim,
                                      const std::vector<std::string>& sizes, Questions& questions);
/// The same where certificates that do not fit are looked for anew. The kernel accepted each step
/// of what comes out.
std::optional<std::string> transferred(const Shown& shown, const kernel::Claim& claim,
                                       const std::vector<std::string>& sizes, Questions& questions);

}  // namespace regraft::verify

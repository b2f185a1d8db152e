#pragma once
// A derivation of one claim, made to fit another one that is much like it.
#include <memory>
#include <optional>

#include "verify/derivations/alike.h"
#include "verify/derivations/questions.h"

namespace regraft::verify {

/// A claim that has a derivation.
struct Shown {
  std::string derivation, outline;
  std::shared_ptr<const kernel::Symbols> symbols;
  std::shared_ptr<const kernel::Claim> claim;
};

/// The steps of the derivation for another claim, in the symbols of `questions`: what stands at the
/// same places of the two claims gets the same name, facts get their numbers, and certificates that
/// do not fit are looked for anew. `sizes`: for each output its lines that say which sizes are
/// equal. The kernel accepted each step of what comes out.
std::optional<std::string> transferred(const Shown& shown, const kernel::Claim& claim,
                                       const std::vector<std::string>& sizes,
                                       Questions& questions);

}  // namespace regraft::verify

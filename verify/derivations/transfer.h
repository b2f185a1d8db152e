#pragma once
// A derivation of one claim, made to fit another one that is much like it.
#include <memory>
#include <optional>

#include "verify/derivations/alike.h"
#include "verify/derivations/questions.h"

namespace regraft::verify {

/// A claim that has a derivation.
struct Shown {
  std::string derivation;
  size_t search = 0;  ///< which one found it, or what it was made of
  std::shared_ptr<const ClaimTexts> texts;
  std::shared_ptr<const kernel::Symbols> symbols;
  std::shared_ptr<const kernel::Claim> claim;
};

/// The derivation of one claim in the words of another one: what stands at the same places of the
/// two gets the same name, and facts get their numbers. What it reads must outlive it.
class Rewording {
 public:
  /// `texts` are those of the claim.
  Rewording(const Shown& shown, const kernel::Claim& claim, const ClaimTexts& texts,
            Questions& questions);
  ~Rewording();
  Rewording(const Rewording&) = delete;
  Rewording& operator=(const Rewording&) = delete;

  const Shown& shown() const { return shown_; }
  /// Everything that the claim needs of sizes is shown: a good guess that the derivation fits.
  bool covers() const;
  /// How many pieces of what is shown are not among those of the other claim: a guess at how well
  /// the derivation fits.
  size_t strangers() const;
  /// All of it. Nothing is checked; nullopt: it has other parts.
  std::optional<std::string> translated();
  /// The same, where certificates that do not fit are looked for anew. The kernel accepted each
  /// step of what comes out.
  std::optional<std::string> transferred();

 private:
  struct Parts;
  /// For each output of the claim the lines that say which sizes are equal: those of what is shown
  /// that hold here as well, and positions that the facts say to be 0.
  const std::vector<std::string>& sizes();
  std::string text();
  const Shown& shown_;
  const kernel::Claim& claim_;
  const ClaimTexts& texts_;
  Questions& questions_;
  std::unique_ptr<Parts> parts_;
  std::optional<std::vector<std::string>> sizes_;
};

}  // namespace regraft::verify

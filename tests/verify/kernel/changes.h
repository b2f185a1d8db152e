#pragma once
// Derivations changed in one place: attacks on the kernel.
#include <array>
#include <random>
#include <string>
#include <string_view>

namespace regraft::kernel {

enum class Attack : uint8_t {
  Step,         ///< a line dropped, doubled, or exchanged with another one
  Index,        ///< a number in the words of a line
  Bijection,    ///< two words of a `pair`, an `under` or `indices` exchanged
  Condition,    ///< a certificate dropped or exchanged; a fact or a sign in a line is another one
  Case,         ///< what stands between a distinction, or a block, and an `end`
  Coefficient,  ///< a number in a certificate
  Law,          ///< the name of a step or of a law
  Foreign,      ///< lines of another rule's derivation, or all of it
};
constexpr std::array<std::string_view, 8> kAttacks{"step", "index",       "bijection", "condition",
                                                   "case", "coefficient", "law",       "foreign"};

/// The same text where there is nothing of that kind to change.
std::string attacked(const std::string& derivation, const std::string& other, Attack kind,
                     std::mt19937& random);

}  // namespace regraft::kernel

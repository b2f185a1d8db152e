#pragma once
// A rule's claim at one signature as text, before anything is unfolded: for a kernel that does not
// share more than the operators' formulas.
#include <string>
#include <string_view>

#include "verify/kernel/unfold.h"

namespace regraft::verify {

/// The first line of a file of claims.
constexpr std::string_view kClaimsHeader = "# regraft claims, format 1\n";
/// A claim as docs/kernel.md has it; its symbols have the names that the kernel gives them. Without
/// formulas where the kernel refuses to say what is claimed. May make symbols in the instance's
/// pool.
std::string claim_text(const RuleInstance& instance, const std::string& name);
/// A derivation of the claim before it, and whether the kernel accepts it.
std::string derivation_text(const std::string& derivation, bool accepted);

}  // namespace regraft::verify

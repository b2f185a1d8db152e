#pragma once
// Judging families of rules (ir/rule/family.h): each member is judged as the rule that it is.
#include <functional>

#include "verify/verify.h"

namespace regraft::verify {

/// Judges one member, a rule with one signature.
using JudgeMember = std::function<Finding(const Rule& member)>;
/// Of members that are not judged by themselves.
struct MemberDerivations {
  /// The kernel accepts a derivation of another proof.
  std::function<bool(const Rule& member, const RuleInstance& instance)> accepts;
  /// What the prover proved is derived.
  std::function<void(const Rule& member, const RuleInstance& instance)> derive;
};

/// At each signature of the family, or at the usual ones, all members are proved for as many open
/// axes as are allowed, from none on. A signature with a refuted member is refuted, and the member
/// is named. Where a proof fails, or there are more members than `kMaxMembers` times the effort,
/// the signature gets a bound: what is not proved is not claimed. `judge` is asked about the first
/// members of each signature and some of the others, of those that the kernel accepts fewer; of the
/// rest the kernel is asked, and then the symbolic prover alone. A reversible family keeps the
/// signatures that are proved in both directions.
Finding judge_family(const Rule& candidate, const VerifyOptions& options, const Stop* stop,
                     MemberLists& members, const JudgeMember& judge,
                     const MemberDerivations& derivations);

constexpr size_t kMaxMembers = 1000;  ///< at one signature, in one direction

}  // namespace regraft::verify

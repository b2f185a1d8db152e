#pragma once
// What there is to prove of a rule, one by one, and whether the kernel accepts a derivation of it.
// No prover is asked.
#include <functional>
#include <string>

#include "ir/rule/family.h"
#include "verify/replay/instance.h"

namespace regraft::verify {

/// A directed rule that is no family, at one signature.
struct ProofPlace {
  /// Which one among those of the rule: "> a:nn b:n1" from left to right, "< ..." back, in a family
  /// "> ?p=1,0 x:nn".
  std::string name;
  const Rule& rule;
  const Signature& signature;
};

/// Each once: each direction, each signature of the rule's domain, each member of a family. Ends
/// where `visit` says false; then false.
bool for_each_proof(const Rule& rule, const std::function<bool(const ProofPlace&)>& visit);
/// The same with what is known of members, which gets more.
bool for_each_proof(const Rule& rule, MemberLists& members,
                    const std::function<bool(const ProofPlace&)>& visit);

/// What a proof is of, as text: the directed rule at one signature, without its name and verdicts.
std::string proof_key(const Rule& directed, const Signature& signature);

/// 32 hexadecimal digits of a SHA-256 digest: of what the rule says, without its name, signatures
/// and verdicts, and of what its operators mean.
std::string content_digest(const Rule& rule);

/// What the kernel has against the derivation, in one line; empty: it accepts. May make symbols in
/// the instance's pool.
std::string refusal(const RuleInstance& instance, const std::string& derivation);

}  // namespace regraft::verify

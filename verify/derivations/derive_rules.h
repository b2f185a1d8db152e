#pragma once
// Derivations of whole rules: one for each proof that the kernel accepts.
#include <map>
#include <optional>
#include <span>

#include "base/parallel.h"
#include "base/progress.h"
#include "ir/rule/family.h"
#include "verify/replay/book.h"

namespace regraft::verify {

/// By proof_key: a derivation that the kernel accepted; nullopt: the search found none.
using Answers = std::map<std::string, std::optional<std::string>>;

/// Of a rule that the provers proved for all sizes.
struct DerivedRule {
  RuleDerivations derivations;
  Answers answers;  ///< the same by proof_key; without proofs that were not reached
  size_t proofs = 0;
  /// Proofs that rest on the provers alone, with where the search for a derivation ended.
  std::vector<std::pair<std::string, std::string>> prover_only;
};

/// What `known` does not have is looked for. After `stop` the proofs that were not reached count as
/// proved by the provers alone.
DerivedRule derive_rule(const Rule& rule, const Answers& known, const Stop* stop);
DerivedRule derive_rule(const Rule& rule, const Answers& known, MemberLists& members,
                        const Stop* stop);
/// In parallel, with progress on stderr; one result for each rule. REQUIRES: the rules share no
/// pools.
std::vector<DerivedRule> derive_rules(std::span<const Rule> rules, const Answers& known,
                                      int threads, Verbosity verbosity, const Stop& stop);

/// Derivations at hand for one rule while that is judged. Not thread-safe.
class Replayer {
 public:
  /// Those that the book has of this candidate; nullptr: there is no book. It must outlive this.
  Replayer(const Rule& candidate, const DerivationBook* book, MemberLists& members);
  /// There is a derivation of this proof, and the kernel accepts it.
  bool accepts(const Rule& directed, const Signature& signature, const RuleInstance& instance);
  /// What was accepted, and the proofs of which the book says that there is none.
  const Answers& answers() const { return answers_; }

 private:
  std::map<std::string, const std::string*> given_;  ///< by proof_key
  Answers answers_;
};

}  // namespace regraft::verify

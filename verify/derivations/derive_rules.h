#pragma once
// Derivations of whole rules: one for each proof that the kernel accepts.
#include <functional>
#include <map>
#include <optional>
#include <span>

#include "base/parallel.h"
#include "base/progress.h"
#include "ir/rule/family.h"
#include "verify/derivations/elaborate.h"
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
/// In parallel, with progress on stderr; one result for each rule. REQUIRES: the rules share no
/// pools.
std::vector<DerivedRule> derive_rules(std::span<const Rule> rules, const Answers& known,
                                      int threads, Verbosity verbosity, const Stop& stop);

/// Derivations of one rule's proofs while it is judged: at hand, made to fit from its other proofs,
/// or looked for. Not thread-safe.
class Deriver {
 public:
  /// With those that the book has of this candidate; nullptr: there is no book. It must outlive
  /// this, as must `stop` (nullptr: never).
  Deriver(const Rule& candidate, const DerivationBook* book, MemberLists& members,
          const Stop* stop);
  /// The kernel accepts a derivation at hand.
  bool replays(const Rule& directed, const Signature& signature, const RuleInstance& instance);
  /// The book has the rule as one that is proved at sample shapes alone, and no more was found at
  /// this signature.
  bool is_known_bounded(const Rule& directed, const Signature& signature) const;
  /// There are other proofs, of which one may fit.
  bool may_fit() const { return !others_.found().empty(); }
  /// The kernel accepts one of another proof that was made to fit.
  bool fits(const Rule& directed, const Signature& signature, const RuleInstance& instance);
  /// A brief search found one.
  bool finds(const Rule& directed, const Signature& signature, const RuleInstance& instance);
  /// For what the provers proved; the rule's other proofs may use it.
  void derive(const Rule& directed, const Signature& signature, const RuleInstance& instance);
  /// Of all proofs of the rule that it became; without the digest of its content.
  DerivedRule whole(const Rule& rule, MemberLists& members);
  size_t replayed() const { return replayed_; }  ///< accepted as they were at hand
  double seconds() const { return seconds_; }    ///< of CPU, for all but those at hand

 private:
  friend DerivedRule derive_rule(const Rule&, const Answers&, const Stop*);
  Deriver(const Answers& known, const Stop* stop) : answers_(known), stop_(stop) {}
  /// What it finds is an answer; `failed` remembers the key of what it does not find.
  bool looks(const std::string& key, std::string& failed,
             const std::function<std::optional<std::string>()>& look);
  void search(const std::string& key, const RuleInstance& instance);

  bool bounded_ = false;                             ///< the book says so of the rule
  std::map<std::string, const std::string*> given_;  ///< by proof_key
  Answers answers_;
  std::map<std::string, std::string> missing_;  ///< where the searches ended, by proof_key
  OtherProofs others_;
  std::string not_fitted_;  ///< the last one that no other proof fits
  std::string not_found_;   ///< the last one that a brief search did not find
  const Stop* stop_;
  size_t replayed_ = 0;
  double seconds_ = 0;
};

}  // namespace regraft::verify

#pragma once
// A rule from left to right, at one signature after the other.
#include <set>
#include <string>

#include "verify/derivations/derive_rules.h"
#include "verify/signatures.h"
#include "verify/verify.h"

namespace regraft::verify {

/// Of the proofs that the kernel accepts a derivation of, so many are tried by numbers too.
constexpr size_t kDerivedAndTried = 2;

/// Shapes at which the values of both sides of a rule are proved to be equal, whichever of them is
/// the left one.
class ValueProofs {
 public:
  void add(const Rule& rule, const Candidate& c) { known_.insert(key(rule, c)); }
  bool has(const Rule& rule, const Candidate& c) const { return known_.count(key(rule, c)) > 0; }

 private:
  static std::string key(const Rule& rule, const Candidate& c);
  std::set<std::string> known_;
};

/// The rule as it is, whether or not it is reversible. What the deriver accepts needs no prover.
/// `values` may be nullptr; else it is used, and gets what is proved.
Finding judge_as_given(const Rule& rule, const VerifyOptions& options, const Stop* stop,
                       Deriver& deriver, ValueProofs* values = nullptr);

/// What was added to the conditions of another rule: "v.2=w.2".
std::string text_of_conditions(const Rule& rule, const Rule& before);

}  // namespace regraft::verify

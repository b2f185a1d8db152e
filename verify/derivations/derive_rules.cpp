#include "verify/derivations/derive_rules.h"

#include "verify/arithmetic/budget.h"
#include "verify/derivations/elaborate.h"
#include "verify/replay/proofs.h"

namespace regraft::verify {
namespace {

/// From what is known, or with the rule's other proofs at hand.
Elaboration derive(const ProofPlace& place, const std::string& key, const Answers& known,
                   OtherProofs& others, const Stop* stop) {
  if (auto it = known.find(key); it != known.end()) return {it->second, "none was found before"};
  auto instance = instance_at(place.rule, place.signature, Assume::LeftSide);
  if (!instance) return {std::nullopt, instance.error().message};
  return elaborate(*instance, others, stop);
}

}  // namespace

DerivedRule derive_rule(const Rule& rule, const Answers& known, const Stop* stop) {
  MemberLists members;
  return derive_rule(rule, known, members, stop);
}

DerivedRule derive_rule(const Rule& rule, const Answers& known, MemberLists& members,
                        const Stop* stop) {
  DerivedRule r;
  r.derivations = {rule, content_digest(rule), {}, {}, 0};
  OtherProofs others;
  for_each_proof(rule, members, [&](const ProofPlace& place) {
    ++r.proofs;
    std::string key;
    Elaboration e;
    if (!must_end(stop)) {
      key = proof_key(place.rule, place.signature);
      e = derive(place, key, known, others, stop);
    }
    if (!e.derivation && must_end(stop)) {  // before or within the search
      r.prover_only.emplace_back(place.name, stop->reason());
      return true;
    }
    r.answers.emplace(std::move(key), e.derivation);
    if (e.derivation) {
      r.derivations.by_name.emplace(place.name, *std::move(e.derivation));
    } else {
      r.derivations.none.insert(place.name);
      r.prover_only.emplace_back(place.name, e.missing);
    }
    return true;
  });
  return r;
}

std::vector<DerivedRule> derive_rules(std::span<const Rule> rules, const Answers& known,
                                      int threads, Verbosity verbosity, const Stop& stop) {
  std::vector<DerivedRule> r(rules.size());
  Progress progress("derivations", "rules", rules.size(), verbosity);
  parallel_for(rules.size(), threads, [&](size_t k) {
    r[k] = derive_rule(rules[k], known, &stop);
    progress.add();
  });
  return r;
}

Replayer::Replayer(const Rule& candidate, const DerivationBook* book, MemberLists& members) {
  const RuleDerivations* found = book ? book->find(content_digest(candidate)) : nullptr;
  if (!found) return;
  for_each_proof(found->rule, members, [&](const ProofPlace& place) {
    std::string key = proof_key(place.rule, place.signature);
    if (found->none.count(place.name) > 0)
      answers_.emplace(std::move(key), std::nullopt);
    else if (auto it = found->by_name.find(place.name); it != found->by_name.end())
      given_.emplace(std::move(key), &it->second);
    return true;
  });
}

bool Replayer::accepts(const Rule& directed, const Signature& signature,
                       const RuleInstance& instance) {
  if (given_.empty()) return false;
  std::string key = proof_key(directed, signature);
  auto it = given_.find(key);
  if (it == given_.end() || !refusal(instance, *it->second).empty()) return false;
  answers_.emplace(std::move(key), *it->second);
  return true;
}

}  // namespace regraft::verify

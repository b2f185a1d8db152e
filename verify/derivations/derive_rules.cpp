#include "verify/derivations/derive_rules.h"

#include "base/resources.h"
#include "verify/arithmetic/budget.h"
#include "verify/replay/proofs.h"

namespace regraft::verify {

DerivedRule derive_rule(const Rule& rule, const Answers& known, const Stop* stop) {
  MemberLists members;
  DerivedRule r = Deriver(known, stop).whole(rule, members);
  r.derivations.digest = content_digest(rule);
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

Deriver::Deriver(const Rule& candidate, const DerivationBook* book, MemberLists& members,
                 const Stop* stop)
    : stop_(stop) {
  const RuleDerivations* found = book ? book->find(content_digest(candidate)) : nullptr;
  if (!found) return;
  bounded_ = found->rule.verdict.kind == VerdictKind::ProvedBounded;
  for_each_proof(found->rule, members, [&](const ProofPlace& place) {
    std::string key = proof_key(place.rule, place.signature);
    if (found->none.count(place.name) > 0)
      answers_.emplace(std::move(key), std::nullopt);
    else if (auto it = found->by_name.find(place.name); it != found->by_name.end())
      given_.emplace(std::move(key), &it->second);
    return true;
  });
}

bool Deriver::replays(const Rule& directed, const Signature& signature,
                      const RuleInstance& instance) {
  if (given_.empty() && answers_.empty()) return false;
  const std::string key = proof_key(directed, signature);
  if (auto it = answers_.find(key); it != answers_.end()) return it->second.has_value();
  auto it = given_.find(key);
  if (it == given_.end() || !refusal(instance, *it->second).empty()) return false;
  answers_.emplace(key, *it->second);
  ++replayed_;
  return true;
}

bool Deriver::is_known_bounded(const Rule& directed, const Signature& signature) const {
  if (!bounded_) return false;
  auto it = answers_.find(proof_key(directed, signature));
  return it != answers_.end() && !it->second;
}

bool Deriver::looks(const std::string& key, std::string& failed,
                    const std::function<std::optional<std::string>()>& look) {
  if (key == failed || answers_.contains(key)) return false;
  const double start = thread_seconds();
  auto derivation = look();
  if (derivation)
    answers_.emplace(key, *std::move(derivation));
  else
    failed = key;
  seconds_ += thread_seconds() - start;
  return derivation.has_value();
}

bool Deriver::fits(const Rule& directed, const Signature& signature, const RuleInstance& instance) {
  if (!may_fit()) return false;
  return looks(proof_key(directed, signature), not_fitted_,
               [&] { return fitted(instance, others_, stop_); });
}

bool Deriver::finds(const Rule& directed, const Signature& signature,
                    const RuleInstance& instance) {
  return looks(proof_key(directed, signature), not_found_,
               [&] { return briefly_searched(instance, others_, stop_); });
}

void Deriver::derive(const Rule& directed, const Signature& signature,
                     const RuleInstance& instance) {
  const std::string key = proof_key(directed, signature);
  if (!answers_.contains(key)) search(key, instance);
}

void Deriver::search(const std::string& key, const RuleInstance& instance) {
  const double start = thread_seconds();
  Elaboration e =
      key == not_fitted_ ? searched(instance, others_, stop_) : elaborate(instance, others_, stop_);
  if (e.derivation || !must_end(stop_)) {
    if (!e.derivation) missing_[key] = e.missing;
    answers_.emplace(key, std::move(e.derivation));
  }
  seconds_ += thread_seconds() - start;
}

DerivedRule Deriver::whole(const Rule& rule, MemberLists& members) {
  DerivedRule r;
  r.derivations = {rule, {}, {}, {}, 0};
  for_each_proof(rule, members, [&](const ProofPlace& place) {
    ++r.proofs;
    std::string key;
    if (!must_end(stop_)) {
      key = proof_key(place.rule, place.signature);
      if (!answers_.contains(key)) {
        auto instance = instance_at(place.rule, place.signature, Assume::LeftSide);
        if (instance) {
          search(key, *instance);
        } else {
          missing_[key] = instance.error().message;
          answers_.emplace(key, std::nullopt);
        }
      }
    }
    auto it = answers_.find(key);
    if (it == answers_.end()) {  // it was to end before or within the search
      r.prover_only.emplace_back(place.name, stop_->reason());
      return true;
    }
    const std::optional<std::string>& derivation = it->second;
    r.answers.emplace(key, derivation);
    if (derivation) {
      r.derivations.by_name.emplace(place.name, *derivation);
    } else {
      auto why = missing_.find(key);
      r.derivations.none.insert(place.name);
      r.prover_only.emplace_back(place.name,
                                 why == missing_.end() ? "none was found before" : why->second);
    }
    return true;
  });
  return r;
}

}  // namespace regraft::verify

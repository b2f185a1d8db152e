#include "verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "base/resources.h"
#include "ir/rule/family.h"
#include "verify/conditions.h"
#include "verify/distinct.h"
#include "verify/families.h"
#include "verify/one_direction.h"
#include "verify/signatures.h"

namespace regraft::verify {
namespace {

bool is_proved(const Rule& r) { return regraft::is_proved(r.verdict.kind); }

/// Signatures at which a condition is looked for: refuted ones that the rule is meant for, or, when
/// nothing is said and nothing is proved, the usual ones.
std::vector<Signature> for_conditions(const Rule& rule, const Finding& plain) {
  constexpr size_t kFew = 2;
  std::vector<Signature> r;
  auto is_one_of = [](const Signature& s, const std::vector<Signature>& all) {
    return std::find(all.begin(), all.end(), s) != all.end();
  };
  for (const Signature& s : rule.domain)
    if (r.size() < kFew && !is_one_of(s, plain.rule.domain)) r.push_back(s);
  if (rule.domain.empty() && !is_proved(plain.rule))
    for (Candidate& c : candidate_signatures(rule, kFew)) r.push_back(std::move(c.signature));
  return r;
}

/// What a rule asks of the sizes at a signature.
std::set<std::string> asked_at(const Rule& rule, const Signature& s) {
  std::set<std::string> asked;
  if (auto instance = instantiate(rule, s))
    for (const Formula& f : instance->requires_lhs) asked.insert(to_string(f));
  return asked;
}

/// More is proved, and nothing is lost: a condition holds at all signatures, and must say nothing
/// new at those where it is not needed.
bool improves(const Rule& narrowed, const Rule& plain) {
  if (!is_for_all_sizes(narrowed.verdict.kind)) return false;
  if (!is_for_all_sizes(plain.verdict.kind)) return true;
  return narrowed.domain.size() > plain.domain.size() &&
         narrowed.real_where.size() == plain.real_where.size() &&
         std::all_of(plain.domain.begin(), plain.domain.end(), [&](const Signature& s) {
           return std::find(narrowed.domain.begin(), narrowed.domain.end(), s) !=
                      narrowed.domain.end() &&
                  asked_at(narrowed, s) == asked_at(plain, s);
         });
}

/// One direction of a rule; where it does not hold and that is wanted, under a condition.
Finding judge_directed(const Rule& rule, const VerifyOptions& options, const Stop* stop,
                       Deriver& deriver, ValueProofs* values = nullptr) {
  Finding plain = judge_as_given(rule, options, stop, deriver, values);
  bool wanted = options.conditions == Conditions::Found && plain.counterexample.has_value();
  if (!wanted) return plain;
  for (const Signature& s : for_conditions(rule, plain)) {
    auto narrowed = with_condition(rule, s, options, stop);
    if (!narrowed) continue;
    Finding f = judge_as_given(*narrowed, options, stop, deriver, values);
    if (!improves(f.rule, plain.rule)) continue;
    add_counters(f.counters, plain.counters);
    f.counterexample = std::move(plain.counterexample);
    f.refutation = std::move(plain.refutation);
    f.refuted = std::move(plain.refuted);
    f.condition = text_of_conditions(*narrowed, rule);
    return f;
  }
  return plain;
}

/// Of two directions the one that was proved further.
Finding& better(Finding& forward, Finding& backward) {
  auto rank = [](const Finding& j) {
    const Rule& r = j.rule;
    return std::pair(is_proved(r) ? static_cast<int>(r.verdict.kind) : 0, r.domain.size());
  };
  return rank(forward) < rank(backward) ? backward : forward;
}

/// Judges a rule in both directions.
class BothWays {
 public:
  BothWays(const Rule& candidate, const VerifyOptions& options, const Stop* stop, Deriver& deriver)
      : options_(options), stop_(stop), deriver_(deriver), candidate_(candidate) {}

  Finding run() {
    std::vector<Rule> wanted = directions(candidate_);
    Finding forward = judged(wanted[0], options_.domains);
    hold_in_both(forward.rule);
    if (out_.rule.domain.empty() || out_.rule.domain.size() < forward.rule.domain.size()) {
      Finding backward = judged(wanted[1], options_.domains);
      hold_in_both(backward.rule);
      if (out_.rule.domain.empty()) {
        Finding& further = better(forward, backward);
        out_.rule = std::move(further.rule);
        take_refutation(further);
      }
    }
    if (!out_.counterexample) take_refutation(forward);
    out_.rule.name = candidate_.name;
    out_.condition = text_of_conditions(out_.rule, candidate_);
    return std::move(out_);
  }

 private:
  Finding judged(const Rule& rule, Domains domains) {
    VerifyOptions o = options_;
    o.domains = domains;
    Finding j = judge_directed(rule, o, stop_, deriver_, &values_);
    add_counters(out_.counters, j.counters);
    return j;
  }
  void take_refutation(Finding& from) {
    out_.counterexample = std::move(from.counterexample);
    out_.refutation = std::move(from.refutation);
    out_.refuted = std::move(from.refuted);
  }
  /// Asks of the other direction what one proves, and adds what holds in both.
  void hold_in_both(const Rule& one) {
    if (!is_proved(one)) return;
    Rule other = judged(reversed(one), Domains::Given).rule;
    if (other.verdict.kind != one.verdict.kind) return;
    // The reverse of a rule and of its reverse have the variables in the same order.
    Rule both = one.name == candidate_.name ? reversed(other) : std::move(other);
    if (out_.rule.verdict.kind > both.verdict.kind) return;
    if (out_.rule.verdict.kind == both.verdict.kind) {
      // What is proved under a condition is not proved without it.
      bool alike = text_of_conditions(out_.rule, {}) == text_of_conditions(both, {});
      if (!alike && !improves(both, out_.rule)) return;
      if (alike) add_signatures(both.domain, out_.rule.domain);
    }
    out_.rule = std::move(both);
    out_.rule.both = true;
  }
  static void add_signatures(std::vector<Signature>& to, const std::vector<Signature>& from) {
    for (const Signature& s : from)
      if (std::find(to.begin(), to.end(), s) == to.end()) to.push_back(s);
  }

  const VerifyOptions& options_;
  const Stop* stop_;
  Deriver& deriver_;
  const Rule& candidate_;
  ValueProofs values_;
  Finding out_;
};

Finding judge_rule(const Rule& candidate, const VerifyOptions& options, const Stop* stop,
                   MemberLists& members, Deriver& deriver) {
  if (Status s = validate(candidate); !s) {
    Finding j;
    j.rule = candidate;
    j.rule.domain.clear();
    j.rule.verdict = {VerdictKind::Unknown, s.error().message};
    return j;
  }
  VerifyOptions o = options;  // what is said to be proved has been widened before
  if (is_for_all_sizes(candidate.verdict.kind)) o.domains = Domains::Given;
  if (is_family(candidate)) {
    o.domains = Domains::Given;
    o.conditions = Conditions::AsGiven;
    const bool derives = o.kernel && o.assume == Assume::LeftSide;
    MemberDerivations derivations;
    derivations.accepts = [&](const Rule& member, const RuleInstance& instance) {
      if (!derives) return false;
      const Signature& at = member.domain[0];
      return deriver.replays(member, at, instance) || deriver.fits(member, at, instance);
    };
    derivations.derive = [&](const Rule& member, const RuleInstance& instance) {
      if (derives) deriver.derive(member, member.domain[0], instance);
    };
    auto judge = [&](const Rule& member) { return judge_as_given(member, o, stop, deriver); };
    return judge_family(candidate, o, stop, members, judge, derivations);
  }
  return candidate.both ? BothWays(candidate, o, stop, deriver).run()
                        : judge_directed(candidate, o, stop, deriver);
}

/// What the provers say is for all sizes is so by the kernel if it accepts every proof.
void ask_kernel(Finding& f, Deriver& deriver, MemberLists& members) {
  DerivedRule derived = deriver.whole(f.rule, members);
  f.counters.kernel_proofs = derived.proofs;
  f.counters.kernel_checked = derived.proofs - derived.prover_only.size();
  f.prover_only = std::move(derived.prover_only);
  f.derivations = std::move(derived.answers);
  if (f.prover_only.empty()) f.rule.verdict.kind = VerdictKind::ProvedAllSizes;
}

}  // namespace

Finding examine(const Rule& candidate, const VerifyOptions& options, const Stop* stop) {
  double start = thread_seconds();
  MemberLists members;
  const bool at_hand = options.kernel && !must_end(stop);
  Deriver deriver(candidate, at_hand ? options.derivations : nullptr, members, stop);
  Finding f = judge_rule(candidate, options, stop, members, deriver);
  if (is_for_all_sizes(f.rule.verdict.kind) && options.assume == Assume::LeftSide && options.kernel)
    ask_kernel(f, deriver, members);
  f.counters.replayed = deriver.replayed();
  f.counters.deriving = deriver.seconds();
  f.milliseconds = 1e3 * (thread_seconds() - start);
  if (is_proved(f.rule)) f.numerics = judge_numerics(f.rule, options.seed);
  f.rule.numerics = f.numerics.forward;
  f.rule.numerics_back = f.numerics.backward;
  return f;
}

Rule verify_rule(const Rule& candidate, const VerifyOptions& options) {
  return examine(candidate, options).rule;
}

}  // namespace regraft::verify

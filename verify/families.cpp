#include "verify/families.h"

#include <algorithm>
#include <optional>

#include "base/resources.h"
#include "ir/rule/family.h"
#include "verify/one_direction.h"
#include "verify/prove/prover.h"

namespace regraft::verify {
namespace {

// Members of one rank at one signature that are judged by themselves: the first ones (the first one
// if the kernel accepts it), and one in so many of the others.
constexpr size_t kJudgedFully = 24;
constexpr size_t kJudgedEvery = 61;

/// What is known of a directed family at one signature.
struct AtSignature {
  int most = -1;  ///< open axes of the last members where all up to them are proved; -1: none is
  std::optional<Finding> refuted;
  std::string reason;
  bool empty = false;  ///< no sizes fit the left side of the last member: it says nothing
};

class FamilyJudge {
 public:
  FamilyJudge(const VerifyOptions& options, const Stop* stop, MemberLists& members,
              const JudgeMember& judge, const MemberDerivations& derivations)
      : options_(options),
        stop_(stop),
        members_(members),
        judge_(judge),
        derivations_(derivations),
        prover_(limits_for(options.effort), stop) {}

  AtSignature at(const Rule& directed, const Signature& signature) {
    AtSignature r;
    size_t members = 0;
    for (int open = 0; open <= most_open(signature); ++open) {
      const size_t left = kMaxMembers * options_.effort - members;
      members += members_.count(directed, signature, open, left);
      if (members >= kMaxMembers * options_.effort) {
        if (r.most < 0) r.reason = "too many members";
        return r;
      }
      size_t number = 0;
      bool here = false;
      bool all = members_.for_each_member(directed, signature, open, [&](const Member& m) {
        if (!is_proved(m, number++, r)) return false;
        here = here || !r.empty;
        return true;
      });
      if (!all) {
        if (r.refuted) r.most = -1;
        return r;
      }
      if (here) r.most = open;
    }
    if (r.most < 0) r.reason = "no member has a form";
    return r;
  }
  VerifyCounters counters() {
    counters_.solver += prover_.stats();
    return std::move(counters_);
  }

 private:
  /// Nothing satisfies what the left side requires: the member says nothing, and fits nowhere.
  bool has_no_sizes(const RuleInstance& instance) const {
    Budget budget(limits_for(options_.effort), stop_);
    ArithmeticSolver solver(budget);
    try {
      return solver.refuted(instance.requires_lhs);
    } catch (const PolyOverflow&) {
      return false;
    } catch (const OutOfBudget&) {
      return false;
    }
  }

  /// Otherwise says in `r` why not.
  bool is_proved(const Member& m, size_t number, AtSignature& r) {
    if (must_end(stop_)) {
      r.reason = "interrupted";
      return false;
    }
    r.empty = false;
    auto instance = instance_at(m.rule, m.rule.domain[0], options_.assume);
    if (!instance) return refused(m, instance.error().message, r);
    bool proved = derivations_.accepts(m.rule, *instance);
    if (number >= (proved ? 1 : kJudgedFully) && number % kJudgedEvery != 0) {
      ++counters_.instances;
      if (!proved && is_for_all_sizes(prover_.prove(*instance).kind)) {
        derivations_.derive(m.rule, *instance);
        proved = true;
      }
      counters_.proofs += proved;
      if (proved) return true;
    }
    r.empty = has_no_sizes(*instance);
    if (r.empty) return true;
    Finding f = judge_(m.rule);
    add_counters(counters_, f.counters);
    if (is_for_all_sizes(f.rule.verdict.kind)) return true;
    r.reason = "at " + to_string(m) + ": " + f.rule.verdict.detail;
    if (f.rule.verdict.kind != VerdictKind::Refuted) return false;
    f.refutation = r.reason;
    if (!f.counterexample) f.refuted = m.rule;
    r.refuted = std::move(f);
    return false;
  }
  static bool refused(const Member& m, const std::string& why, AtSignature& r) {
    r.reason = "at " + to_string(m) + ": " + why;
    Finding f;
    f.refutation = r.reason;
    f.refuted = m.rule;
    r.refuted = std::move(f);
    return false;
  }

  const VerifyOptions& options_;
  const Stop* stop_;
  MemberLists& members_;
  const JudgeMember& judge_;
  const MemberDerivations& derivations_;
  SymbolicProver prover_;
  VerifyCounters counters_;
};

/// Where a family is tried that does not say where: variables of equal rank, then each other one
/// with axes of 1 or a scalar.
std::vector<Signature> usual_signatures(size_t variables) {
  std::vector<Signature> all = {Signature(variables, "..")};
  for (const char* other : {"**", "-"})
    for (size_t v = 0; v < variables && variables > 1; ++v) {
      all.emplace_back(variables, "..");
      all.back()[v] = other;
    }
  return all;
}

class Judgement {
 public:
  Judgement(const Rule& candidate, FamilyJudge& judge) : candidate_(candidate), judge_(judge) {}

  Finding run() {
    std::vector<Rule> ways = directions(candidate_);
    std::vector<Signature> wanted = candidate_.domain;
    if (wanted.empty()) wanted = usual_signatures(candidate_.variables.size());
    Rule forward = ways[0], backward = ways.back(), both = candidate_;
    forward.domain.clear();
    both.domain.clear();
    std::vector<Signature> back_domain;
    Rule place = ways[0];  // takes signatures to the order of the reverse
    for (const Signature& s : wanted) {
      int there = prove(ways[0], s);
      if (there >= 0) forward.domain.push_back(with_most_open(s, there));
      if (ways.size() == 1) continue;
      place.domain = {s};
      Signature turned = reversed(place).domain[0];
      int back = prove(ways[1], turned);
      if (back >= 0) back_domain.push_back(with_most_open(turned, back));
      if (int most = std::min(there, back); most >= 0)
        both.domain.push_back(with_most_open(s, most));
    }
    backward.domain = std::move(back_domain);
    bool reversible = ways.size() > 1 && !both.domain.empty();
    bool turned = ways.size() > 1 && forward.domain.empty();
    out_.rule = std::move(reversible ? both : turned ? backward : forward);
    out_.rule.name = candidate_.name;
    conclude();
    return std::move(out_);
  }

 private:
  int prove(const Rule& directed, const Signature& s) {
    AtSignature r = judge_.at(directed, s);
    if (r.refuted && out_.refutation.empty()) {
      out_.refutation = r.refuted->refutation;
      out_.counterexample = std::move(r.refuted->counterexample);
      out_.refuted = std::move(r.refuted->refuted);
    }
    unknown_ = unknown_ || (r.most < 0 && !r.refuted);
    if (r.most < 0 && reason_.empty()) reason_ = r.reason;
    return r.most;
  }
  void conclude() {
    out_.rule.numerics = out_.rule.numerics_back = {};
    if (!out_.rule.domain.empty())
      out_.rule.verdict = {VerdictKind::ProvedSolver, {}};
    else if (!out_.refutation.empty() && !unknown_)
      out_.rule.verdict = {VerdictKind::Refuted, out_.refutation};
    else
      out_.rule.verdict = {VerdictKind::Unknown, reason_};
  }

  const Rule& candidate_;
  FamilyJudge& judge_;
  Finding out_;
  bool unknown_ = false;
  std::string reason_;
};

}  // namespace

Finding judge_family(const Rule& candidate, const VerifyOptions& options, const Stop* stop,
                     MemberLists& members, const JudgeMember& judge,
                     const MemberDerivations& derivations) {
  FamilyJudge family(options, stop, members, judge, derivations);
  Finding f = Judgement(candidate, family).run();
  f.counters = family.counters();
  return f;
}

}  // namespace regraft::verify

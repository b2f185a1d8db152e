#include "verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "base/resources.h"
#include "ir/algebra/scan.h"
#include "ir/rule/family.h"
#include "verify/conditions.h"
#include "verify/distinct.h"
#include "verify/families.h"
#include "verify/prove/prover.h"
#include "verify/refute/bounded.h"
#include "verify/refute/refute.h"
#include "verify/signatures.h"

namespace regraft::verify {
namespace {

constexpr size_t kFieldTrials = 10;
constexpr size_t kLargerTrials = 35;  // of what was not proved
constexpr int64_t kLargerSpread = 6;
constexpr uint64_t kDoubtfulRounds = 4;
constexpr int64_t kConfirmElements = 300;     // that the second prover looks at after a proof
constexpr size_t kRefutedBeforeGivingUp = 6;  // when nothing was proved so far
constexpr size_t kUnknownBeforeGivingUp = 4;

/// True when the size n of `wide` covers what `narrow` says: same ranks, and every 1 of narrow is a
/// 1 or an n of wide, which asks no more of the sizes than narrow does.
bool covers(const Candidate& wide, const Candidate& narrow) {
  Substitution ones;
  for (size_t v = 0; v < wide.signature.size(); ++v) {
    const std::string &w = wide.signature[v], &n = narrow.signature[v];
    if (w.size() != n.size() || (w == "-") != (n == "-")) return false;
    for (size_t d = 0; d < w.size(); ++d) {
      if (w[d] == n[d]) continue;
      if (w[d] != 'n') return false;
      ones[*wide.instance.sizes[v][d]] = Poly(1);
    }
  }
  std::set<std::string> said;
  for (const Formula& f : narrow.instance.requires_lhs) said.insert(to_string(f));
  Conjunction asked = substitute(wide.instance.requires_lhs, ones);
  return std::all_of(asked.begin(), asked.end(),
                     [&](auto& f) { return said.count(to_string(f)) > 0; });
}

class RuleVerifier {
 public:
  RuleVerifier(const Rule& candidate, const VerifyOptions& options, const Stop* stop)
      : options_(options), stop_(stop), symbolic_(limits_for(options.effort), stop) {
    out_.rule = candidate;
    out_.rule.domain.clear();
    out_.rule.verdict = {};
  }

  Finding run(const std::vector<Signature>& wanted) {
    std::vector<Candidate> candidates = instances(wanted);
    judge_all(candidates);
    bool nothing_fits = candidates.empty();
    bool all_proved = proved_.size() == wanted.size();
    if (!wanted.empty() && all_proved && options_.domains == Domains::Widened)
      judge_all(candidate_signatures(out_.rule, options_.signatures));
    conclude(nothing_fits);
    out_.counters.solver = symbolic_.stats();
    return std::move(out_);
  }

 private:
  void judge_all(const std::vector<Candidate>& candidates) {
    for (const Candidate& c : candidates) {
      if (must_end(stop_)) return;
      if (proved_.empty() && refuted_ >= kRefutedBeforeGivingUp) return;
      if (unknown_ >= kUnknownBeforeGivingUp) return;
      bool known =
          std::any_of(proved_.begin(), proved_.end(), [&](auto& p) { return covers(p, c); });
      if (!known) judge(c);
    }
  }
  std::vector<Candidate> instances(const std::vector<Signature>& wanted) {
    if (wanted.empty()) return candidate_signatures(out_.rule, options_.signatures);
    std::vector<Candidate> r;
    for (const Signature& s : wanted) {
      auto instance = instance_at(out_.rule, s, options_.assume);
      if (instance)
        r.push_back({s, *std::move(instance)});
      else
        reason_ = instance.error().message;
    }
    return r;
  }

  /// Numbers, then the proof for all sizes, then the second prover.
  void judge(const Candidate& c) {
    ++out_.counters.instances;
    std::vector<Valuation> sizes = sample_sizes(c.instance, options_.seed, kFieldTrials);
    NumericCheck numbers = check_numbers(c.instance, sizes, options_.seed, wanted());
    if (refuted(c, numbers)) return;
    Verdict all = symbolic_.prove(c.instance);
    if (all.kind == VerdictKind::ProvedAllSizes) {
      if (confirmed(c)) {
        ++out_.counters.proofs;
        proved_.push_back(c);
      }
      return;
    }
    if (refuted_at_larger_sizes(c, numbers)) return;
    ++unknown_;
    if (reason_.empty()) reason_ = all.detail;
    if (numbers.trials == 0 || numbers.suspicion) return;
    tested_ = true;
    Verdict some = TermsProver(options_.seed).prove(c.instance);
    if (some.kind != VerdictKind::ProvedBounded) {
      if (unknown_ == 1) reason_ += "; at given shapes: " + some.detail;
      return;
    }
    shapes_ += (shapes_.empty() ? "" : "; ") + some.detail;
    bounded_.push_back(c.signature);
  }

  /// What was not proved is tried at more and larger sizes; longer where something says that it is
  /// false: the field, or another signature.
  bool refuted_at_larger_sizes(const Candidate& c, const NumericCheck& before) {
    size_t trials = kLargerTrials * (c.instance.real_symbols.empty() ? 1 : 5);
    bool doubtful = refuted_ > 0 || before.suspicion;
    for (uint64_t round = 0; round < (doubtful ? kDoubtfulRounds : 1); ++round) {
      uint64_t seed = options_.seed + round;
      NumericCheck more = check_numbers(
          c.instance, sample_sizes(c.instance, seed, trials, kLargerSpread), seed, wanted());
      if (refuted(c, more)) return true;
      doubtful = doubtful || more.suspicion;
    }
    return false;
  }
  /// The first counterexample is shown.
  Counterexamples wanted() const {
    return refuted_ == 0 ? Counterexamples::Small : Counterexamples::Any;
  }
  bool refuted(const Candidate& c, const NumericCheck& numbers) {
    if (!numbers.counterexample) return false;
    if (refuted_++ == 0) {
      out_.refutation = describe(c.instance, *numbers.counterexample);
      out_.counterexample = numbers.counterexample;
      out_.refuted = out_.rule;
    }
    return true;
  }

  /// The second prover finds no small shape at which the polynomials differ.
  bool confirmed(const Candidate& c) {
    BoundedReport second = compare_bounded(c.instance, options_.seed, kConfirmElements);
    if (second.answer != TermsAnswer::Different) return true;
    ++unknown_;
    ++out_.counters.disagreements;
    reason_ = "provers disagree at " + second.detail;
    return false;
  }

  void conclude(bool nothing_fits) {
    Rule& r = out_.rule;
    if (!proved_.empty()) {
      for (const Candidate& c : proved_) r.domain.push_back(c.signature);
      r.verdict = {VerdictKind::ProvedAllSizes, {}};
    } else if (!bounded_.empty()) {
      r.domain = bounded_;
      r.verdict = {VerdictKind::ProvedBounded, shapes_};
    } else if (refuted_ > 0 && unknown_ == 0) {
      r.verdict = {VerdictKind::Refuted, out_.refutation};
    } else if (must_end(stop_)) {
      r.verdict = {VerdictKind::Unknown, "interrupted"};
    } else if (nothing_fits) {
      r.verdict = {VerdictKind::Unknown, reason_.empty() ? "no signature fits" : reason_};
    } else {
      r.verdict = {VerdictKind::Unknown,
                   reason_ + (tested_ ? " (no difference found in tests)" : "")};
    }
  }

  const VerifyOptions& options_;
  const Stop* stop_;
  SymbolicProver symbolic_;
  Finding out_;
  std::vector<Candidate> proved_;
  std::vector<Signature> bounded_;
  size_t refuted_ = 0, unknown_ = 0;
  bool tested_ = false;
  std::string reason_, shapes_;
};

bool is_proved(const Rule& r) {
  return r.verdict.kind == VerdictKind::ProvedAllSizes ||
         r.verdict.kind == VerdictKind::ProvedBounded;
}

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
  if (narrowed.verdict.kind != VerdictKind::ProvedAllSizes) return false;
  if (plain.verdict.kind != VerdictKind::ProvedAllSizes) return true;
  return narrowed.domain.size() > plain.domain.size() &&
         std::all_of(plain.domain.begin(), plain.domain.end(), [&](const Signature& s) {
           return std::find(narrowed.domain.begin(), narrowed.domain.end(), s) !=
                      narrowed.domain.end() &&
                  asked_at(narrowed, s) == asked_at(plain, s);
         });
}

/// One direction of a rule as it is.
Finding judge_as_given(const Rule& rule, const VerifyOptions& options, const Stop* stop) {
  return RuleVerifier(rule, options, stop).run(rule.domain);
}

std::string text_of_conditions(const Rule& rule, size_t from) {
  std::string s;
  for (size_t k = from; k < rule.where.size(); ++k)
    s += (s.empty() ? "" : ",") + text::print(rule.where[k].first) +
         std::string(text_of(rule.where[k].relation)) + text::print(rule.where[k].second);
  return s;
}

/// One direction of a rule; where it does not hold and that is wanted, under a condition.
Finding judge_directed(const Rule& rule, const VerifyOptions& options, const Stop* stop) {
  Finding plain = judge_as_given(rule, options, stop);
  bool wanted = options.conditions == Conditions::Found && plain.counterexample.has_value();
  if (!wanted) return plain;
  for (const Signature& s : for_conditions(rule, plain)) {
    auto narrowed = with_condition(rule, s, options, stop);
    if (!narrowed) continue;
    Finding f = judge_as_given(*narrowed, options, stop);
    if (!improves(f.rule, plain.rule)) continue;
    add_counters(f.counters, plain.counters);
    f.counterexample = std::move(plain.counterexample);
    f.refutation = std::move(plain.refutation);
    f.refuted = std::move(plain.refuted);
    f.condition = text_of_conditions(*narrowed, rule.where.size());
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
  BothWays(const Rule& candidate, const VerifyOptions& options, const Stop* stop)
      : options_(options), stop_(stop), candidate_(candidate) {}

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
    out_.condition = text_of_conditions(out_.rule, candidate_.where.size());
    return std::move(out_);
  }

 private:
  Finding judged(const Rule& rule, Domains domains) {
    VerifyOptions o = options_;
    o.domains = domains;
    Finding j = judge_directed(rule, o, stop_);
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
      bool alike = text_of_conditions(out_.rule, 0) == text_of_conditions(both, 0);
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
  const Rule& candidate_;
  Finding out_;
};

Finding judge_rule(const Rule& candidate, const VerifyOptions& options, const Stop* stop) {
  if (Status s = validate(candidate); !s) {
    Finding j;
    j.rule = candidate;
    j.rule.domain.clear();
    j.rule.verdict = {VerdictKind::Unknown, s.error().message};
    return j;
  }
  VerifyOptions o = options;  // what is said to be proved has been widened before
  if (candidate.verdict.kind == VerdictKind::ProvedAllSizes) o.domains = Domains::Given;
  if (is_family(candidate)) {
    o.domains = Domains::Given;
    o.conditions = Conditions::AsGiven;
    return judge_family(candidate, o, stop,
                        [&](const Rule& member) { return judge_as_given(member, o, stop); });
  }
  return candidate.both ? BothWays(candidate, o, stop).run() : judge_directed(candidate, o, stop);
}

}  // namespace

void add_counters(VerifyCounters& total, const VerifyCounters& c) {
  total.instances += c.instances;
  total.proofs += c.proofs;
  total.disagreements += c.disagreements;
  total.solver += c.solver;
}

void count_verdict(VerifyCounters& c, VerdictKind kind) {
  switch (kind) {
    case VerdictKind::ProvedAllSizes:
      ++c.proved;
      return;
    case VerdictKind::ProvedBounded:
      ++c.bounded;
      return;
    case VerdictKind::Tested:
      ++c.tested;
      return;
    case VerdictKind::Refuted:
      ++c.refuted;
      return;
    case VerdictKind::Unknown:
      ++c.unknown;
      return;
  }
}

Finding examine(const Rule& candidate, const VerifyOptions& options, const Stop* stop) {
  double start = thread_seconds();
  Finding f = judge_rule(candidate, options, stop);
  f.milliseconds = 1e3 * (thread_seconds() - start);
  if (is_proved(f.rule)) f.numerics = judge_numerics(f.rule, options.seed);
  f.rule.numerics = f.numerics.forward;
  f.rule.numerics_back = f.numerics.backward;
  return f;
}

Rule verify_rule(const Rule& candidate, const VerifyOptions& options) {
  return examine(candidate, options).rule;
}

namespace {

/// From the store, or judged and kept there.
Finding find_or_examine(const Rule& rule, const VerifyOptions& options, const Stop& stop,
                        const VerdictStore& store) {
  if (store.find)
    if (auto known = store.find(rule)) return *std::move(known);
  Finding f = examine(rule, options, &stop);
  if (store.keep && !must_end(&stop)) store.keep(rule, f);
  return f;
}

}  // namespace

VerifyReport verify_rules(std::span<const Rule> candidates, const VerifyOptions& options,
                          const Stop& stop, const VerdictStore& store) {
  auto start = std::chrono::steady_clock::now();
  double cpu = cpu_seconds();
  VerifyReport report;
  report.counters.candidates = candidates.size();
  Distinct distinct = distinct_rules(candidates);
  const std::vector<Rule>& rules = distinct.rules;
  report.counters.duplicates = distinct.duplicates;
  report.counters.trivial = distinct.trivial;
  report.places = std::move(distinct.places);
  report.findings.resize(rules.size());
  Progress progress("verify", "rules", rules.size(), options.verbosity);
  std::atomic<uint64_t> proved{0};
  int threads = options.threads > 0 ? options.threads : default_threads();
  parallel_for(rules.size(), threads, [&](size_t k) {
    Finding& f = report.findings[k] = find_or_examine(rules[k], options, stop, store);
    proved += f.rule.verdict.kind == VerdictKind::ProvedAllSizes;
    progress.note(fmt::format("{} proved", proved.load()));
    progress.add();
  });
  std::vector<Rule> judged;
  for (const Finding& f : report.findings) {
    add_counters(report.counters, f.counters);
    report.counters.conditional += !f.condition.empty();
    judged.push_back(f.rule);
  }
  Joined joined = join_proved(judged);
  report.rules = std::move(joined.rules);
  report.joined = std::move(joined.places);
  report.counters.joined = judged.size() - report.rules.size();
  for (const Rule& r : report.rules) {
    count_verdict(report.counters, r.verdict.kind);
    report.counters.reversible += r.both && is_proved(r);
    if (is_proved(r)) {
      ++report.counters.numerics[r.numerics.kind];
      if (r.both) ++report.counters.numerics[r.numerics_back.kind];
    }
  }
  report.interrupted = must_end(&stop);
  report.counters.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.counters.cpu_seconds = cpu_seconds() - cpu;
  return report;
}

}  // namespace regraft::verify

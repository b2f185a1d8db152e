#include "verify/one_direction.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "ir/algebra/scan.h"
#include "verify/prove/prover.h"
#include "verify/refute/bounded.h"
#include "verify/refute/refute.h"

namespace regraft::verify {
namespace {

constexpr size_t kFieldTrials = 10;
constexpr size_t kFewTrials = 2;      // before another proof is made to fit
constexpr size_t kLargerTrials = 35;  // of what was not proved
constexpr int64_t kLargerSpread = 6;
constexpr size_t kProductTrials = 20;
constexpr uint64_t kDoubtfulRounds = 4;
constexpr int64_t kConfirmElements = 300;     // that the second prover looks at after a proof
constexpr size_t kRefutedBeforeGivingUp = 6;  // when nothing was proved so far
constexpr size_t kUnknownBeforeGivingUp = 4;

/// A candidate that others may cover.
struct Narrow {
  const Candidate& candidate;
  std::set<std::string> asked = {};  ///< of the sizes, once somebody wants to know

  explicit Narrow(const Candidate& c) : candidate(c) {}
  bool asks(const Formula& f) {
    if (asked.empty())
      for (const Formula& one : candidate.instance.requires_lhs) asked.insert(to_string(one));
    return asked.contains(to_string(f));
  }
};

/// True when the size n of `wide` covers what `narrow` says: same ranks, and every 1 of narrow is a
/// 1 or an n of wide, which asks no more of the sizes than narrow does.
bool covers(const Candidate& wide, Narrow& other) {
  const Candidate& narrow = other.candidate;
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
  return std::ranges::all_of(wide.instance.requires_lhs, [&](const Formula& asked) {
    Conjunction parts;
    add(parts, substitute(asked, ones));
    return std::ranges::all_of(parts, [&](const Formula& f) { return other.asks(f); });
  });
}

class RuleVerifier {
 public:
  /// `values` may be nullptr; else it gets what is proved.
  RuleVerifier(const Rule& candidate, const VerifyOptions& options, const Stop* stop,
               Deriver& deriver, ValueProofs* values)
      : options_(options),
        stop_(stop),
        deriver_(deriver),
        values_(values),
        symbolic_(limits_for(options.effort), stop) {
    out_.rule = candidate;
    out_.rule.domain.clear();
    out_.rule.verdict = {};
  }

  Finding run(const std::vector<Signature>& wanted) {
    std::vector<Candidate> candidates = instances(wanted);
    judge_all(candidates);
    bool nothing_fits = candidates.empty();
    // one that a proved one covers is proved as well
    bool all_proved = candidates.size() == wanted.size() && refuted_ + unknown_ == 0;
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
      Narrow narrow(c);
      if (std::ranges::none_of(proved_, [&](auto& p) { return covers(p, narrow); })) judge(c);
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

  bool may_derive() const { return options_.kernel && options_.assume == Assume::LeftSide; }
  bool replays(const Candidate& c) {
    return may_derive() && deriver_.replays(out_.rule, c.signature, c.instance);
  }
  /// Of another proof, where a few numbers say nothing against it.
  bool fits(const Candidate& c, std::span<const Valuation> sizes, bool equal) {
    if (!may_derive() || !deriver_.may_fit()) return false;
    const auto few = sizes.subspan(sizes.size() - std::min(sizes.size(), kFewTrials));
    const bool may_hold =
        equal || !check_numbers(c.instance, {few.begin(), few.end()}, options_.seed,
                                Counterexamples::Any, Suspicions::LeftOut)
                      .counterexample;
    return may_hold && deriver_.fits(out_.rule, c.signature, c.instance);
  }
  bool is_known_bounded(const Candidate& c) const {
    return may_derive() && options_.effort == 1 &&
           deriver_.is_known_bounded(out_.rule, c.signature);
  }
  bool finds(const Candidate& c) {
    return may_derive() && deriver_.finds(out_.rule, c.signature, c.instance);
  }

  /// A derivation at hand or of another proof, which numbers and the second prover try for the
  /// first of a rule alone; one that is soon found, or the prover, which they try each time. What
  /// is false is refuted by numbers.
  void judge(const Candidate& c) {
    ++out_.counters.instances;
    bool derived = replays(c);
    if (derived && derived_++ >= kDerivedAndTried) return take_proof(c);
    const bool equal = !derived && values_ && values_->has(out_.rule, c);
    const std::vector<Valuation> sizes = sample_sizes(c.instance, options_.seed, kFieldTrials);
    if (!derived) {
      derived = fits(c, sizes, equal);
      if (derived && derived_++ >= kDerivedAndTried) return take_proof(c);
    }
    if (!derived && equal && (finds(c) || holds_as_before(c))) return take_proof(c);
    NumericCheck numbers =
        check_numbers(c.instance, sizes, options_.seed, wanted(), Suspicions::LeftOut);
    if (refuted(c, numbers)) return;
    Verdict all{VerdictKind::ProvedSolver, {}};
    if (!derived && is_known_bounded(c))
      all = {VerdictKind::Unknown, "no proof for all sizes was found before"};
    else if (!derived && !finds(c))
      all = symbolic_.prove(c.instance);
    if (is_for_all_sizes(all.kind)) {
      const bool once_is_enough = derived && derived_ > 1;
      if (once_is_enough || confirmed(c)) take_proof(c);
      return;
    }
    numbers = check_numbers(c.instance, sizes, options_.seed, wanted());
    if (refuted_at_larger_sizes(c, numbers)) return;
    const auto undefined = symbolic_.undefined_attribute(c.instance);
    if (undefined && refuted_at_zeros(c, sizes)) return;
    ++unknown_;
    if (reason_.empty()) reason_ = undefined.value_or(all.detail);
    if (numbers.trials == 0 || numbers.suspicion) return;
    tested_ = true;
    if (undefined) return;  // which polynomials at given numbers do not tell
    Verdict some = TermsProver(options_.seed).prove(c.instance);
    if (some.kind != VerdictKind::ProvedBounded) {
      if (unknown_ == 1) reason_ += "; at given shapes: " + some.detail;
      return;
    }
    shapes_ += (shapes_.empty() ? "" : "; ") + some.detail;
    bounded_.push_back(c.signature);
  }

  /// The values were proved to be equal with the other side as the left one: what is left to show
  /// is that this side asks no less of the sizes.
  bool holds_as_before(const Candidate& c) {
    return is_for_all_sizes(symbolic_.prove(c.instance, Values::Equal).kind);
  }
  void take_proof(const Candidate& c) {
    ++out_.counters.proofs;
    proved_.push_back(c);
    if (values_) values_->add(out_.rule, c);
    if (may_derive()) deriver_.derive(out_.rule, c.signature, c.instance);
  }

  /// What was not proved is tried at more and larger sizes; longer where something says that it is
  /// false: the field, or another signature.
  bool refuted_at_larger_sizes(const Candidate& c, const NumericCheck& before) {
    size_t trials = kLargerTrials * (c.instance.real_symbols.empty() ? 1 : 5);
    bool doubtful = refuted_ > 0 || before.suspicion;
    for (uint64_t round = 0; round < (doubtful ? kDoubtfulRounds : 1); ++round) {
      uint64_t seed = options_.seed + round;
      auto sizes = sample_sizes(c.instance, seed, trials, kLargerSpread);
      std::ranges::move(sample_products(c.instance, seed, kProductTrials),
                        std::back_inserter(sizes));
      NumericCheck more = check_numbers(c.instance, sizes, seed, wanted());
      if (refuted(c, more)) return true;
      doubtful = doubtful || more.suspicion;
    }
    return false;
  }
  /// A computed attribute may divide by 0: each real attribute in turn is 0.
  bool refuted_at_zeros(const Candidate& c, const std::vector<Valuation>& sizes) {
    std::vector<Valuation> zeros;
    for (const auto& [name, v] : c.instance.real_symbols)
      for (const Valuation& at : with_zero(c.instance, v, sizes)) zeros.push_back(at);
    return refuted(c, check_numbers(c.instance, zeros, options_.seed, wanted()));
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
      r.verdict = {VerdictKind::ProvedSolver, {}};
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
  Deriver& deriver_;
  ValueProofs* values_;
  SymbolicProver symbolic_;
  Finding out_;
  std::vector<Candidate> proved_;
  std::vector<Signature> bounded_;
  size_t refuted_ = 0, unknown_ = 0, derived_ = 0;
  bool tested_ = false;
  std::string reason_, shapes_;
};

}  // namespace

std::string ValueProofs::key(const Rule& rule, const Candidate& c) {
  std::set<std::string> words;
  for (size_t v = 0; v < rule.variables.size(); ++v) {
    DType type = c.instance.lhs.type(c.instance.lhs.inputs()[v]).dtype;
    words.insert(
        fmt::format("{}:{}:{}", rule.variables[v], c.signature[v], static_cast<int>(type)));
  }
  return fmt::format("{} where {}", fmt::join(words, " "), text_of_conditions(rule, {}));
}

Finding judge_as_given(const Rule& rule, const VerifyOptions& options, const Stop* stop,
                       Deriver& deriver, ValueProofs* values) {
  return RuleVerifier(rule, options, stop, deriver, values).run(rule.domain);
}

std::string text_of_conditions(const Rule& rule, const Rule& before) {
  std::string s;
  auto add = [&](const std::string& a, Relation r, const std::string& b) {
    s += (s.empty() ? "" : ",") + a + std::string(text_of(r)) + b;
  };
  for (size_t k = before.where.size(); k < rule.where.size(); ++k)
    add(text::print(rule.where[k].first), rule.where[k].relation,
        text::print(rule.where[k].second));
  for (size_t k = before.real_where.size(); k < rule.real_where.size(); ++k)
    add(rule.real_where[k].first, rule.real_where[k].relation, rule.real_where[k].second);
  return s;
}

}  // namespace regraft::verify

#include "verify/forms.h"

#include <fmt/format.h>

#include "base/resources.h"
#include "base/rng.h"
#include "verify/prove/prover.h"
#include "verify/refute/bounded.h"
#include "verify/refute/sampling.h"

namespace regraft::verify {
namespace {

constexpr size_t kPlainTrials = 32;  // sizes at which numbers are compared without broadcasting
constexpr size_t kTrials = 6;        // and with it, for each form

std::string signature_text(const Rule& form) {
  std::string s;
  for (size_t v = 0; v < form.variables.size(); ++v)
    s += (v ? " " : "") + form.variables[v] + ":" + form.domain[0][v];
  return s;
}

/// Judges one rule.
class FormsVerifier {
 public:
  FormsVerifier(const VerifyOptions& options, Meant meant, const Stop& stop)
      : options_(options), meant_(meant), stop_(stop), prover_(limits_for(options.effort), &stop) {
    options_.domains = Domains::Given;
    options_.conditions = Conditions::Found;
  }

  MatchedFinding run(const Matched& m) {
    meaning_ = m.meaning;
    broadcast_forms_ = m.forms.empty() ? 0 : m.forms.size() - 1;
    for (size_t k = 0; k < m.forms.size(); ++k) judge(m.forms[k], k == 0);
    out_.meant.rule = m.rule;
    if (!plain_ok_ || meant_ == Meant::Always) out_.meant = examine(m.rule, options_, &stop_);
    if (must_end(&stop_)) {
      out_.matched = {VerdictKind::Unknown, "interrupted"};
    } else if (out_.forms_proved == m.forms.size() && !m.forms.empty()) {
      out_.matched = {VerdictKind::ProvedSolver, {}};
    } else if (out_.forms_refuted > 0) {
      out_.matched = {VerdictKind::Refuted, counterexample_};
    } else {
      out_.matched = {VerdictKind::Unknown, reason_.empty() ? "no form fits" : reason_};
    }
    if (!is_for_all_sizes(out_.matched.kind)) conclude();
    return std::move(out_);
  }

 private:
  void judge(const Rule& form, bool plain) {
    if (must_end(&stop_) || (out_.forms_refuted > 0 && !plain_ok_)) return;
    auto instance = instance_at(form, form.domain[0], Assume::BothSides);
    if (!instance) return set_reason(form, instance.error().message);
    if (refuted(form, *instance, plain ? kPlainTrials : kTrials)) return;
    Verdict v = prover_.prove(*instance);
    if (!is_for_all_sizes(v.kind)) return set_reason(form, v.detail);
    if (plain && !confirmed(*instance)) return set_reason(form, "provers disagree");
    ++out_.forms_proved;
    plain_ok_ = plain_ok_ || plain;
    if (!plain) out_.broadcasts.push_back(signature_text(form));
  }
  void set_reason(const Rule& form, const std::string& what) {
    if (reason_.empty()) reason_ = signature_text(form) + ": " + what;
  }

  /// Numbers differ at one of `trials` sizes. The first counterexample is made small and kept.
  bool refuted(const Rule& form, const RuleInstance& instance, size_t trials) {
    Rng rng(options_.seed);
    for (const Valuation& v : sample_sizes(instance, options_.seed, trials)) {
      Inputs inputs =
          random_inputs(instance, v, [&](int, int64_t) { return 0.1 + 2 * rng.unit(); });
      Comparison c = compare_sides(instance, v, inputs);
      if (!c.difference) continue;
      if (++out_.forms_refuted > 1) return true;
      out_.counterexample = smallest(instance, v, inputs, *c.difference, options_.seed);
      counterexample_ = describe(instance, *out_.counterexample);
      out_.refuted = form;
      return true;
    }
    return false;
  }
  /// The second prover, at small shapes.
  bool confirmed(const RuleInstance& instance) {
    constexpr int64_t kElements = 300;
    return compare_bounded(instance, options_.seed, kElements).answer != TermsAnswer::Different;
  }

  void conclude() {
    bool meant = is_for_all_sizes(out_.meant.rule.verdict.kind);
    if (!plain_ok_ && !meant) return;
    if (!plain_ok_ && !meaning_.empty()) out_.conditions.push_back(meaning_);
    if (!plain_ok_ && !out_.meant.condition.empty())
      out_.conditions.push_back(out_.meant.condition);
    if (out_.broadcasts.size() == broadcast_forms_) return;
    out_.conditions.push_back(out_.broadcasts.empty()
                                  ? "no broadcasting"
                                  : fmt::format("broadcasting only in {} of {} ways tried",
                                                out_.broadcasts.size(), broadcast_forms_));
  }

  VerifyOptions options_;
  Meant meant_;
  const Stop& stop_;
  SymbolicProver prover_;
  MatchedFinding out_;
  bool plain_ok_ = false;  // the form without broadcasting is proved
  size_t broadcast_forms_ = 0;
  std::string counterexample_, reason_, meaning_;
};

}  // namespace

std::vector<MatchedFinding> verify_matched(std::span<const Matched> rules,
                                           const VerifyOptions& options, Meant meant,
                                           const Stop& stop) {
  std::vector<MatchedFinding> findings(rules.size());
  Progress progress("verify", "rules", rules.size(), options.verbosity);
  int threads = options.threads > 0 ? options.threads : default_threads();
  parallel_for(rules.size(), threads, [&](size_t k) {
    double start = thread_seconds();
    findings[k] = FormsVerifier(options, meant, stop).run(rules[k]);
    findings[k].milliseconds = 1e3 * (thread_seconds() - start);
    progress.add();
  });
  return findings;
}

}  // namespace regraft::verify

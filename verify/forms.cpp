#include "verify/forms.h"

#include <chrono>

#include "verify/budget.h"

namespace regraft::verify {
namespace {

std::string signature_text(const Rule& form) {
  std::string s;
  for (size_t v = 0; v < form.variables.size(); ++v)
    s += (v ? " " : "") + form.variables[v] + ":" + form.domain[0][v];
  return s;
}

/// Judges one rule.
class FormsVerifier {
 public:
  FormsVerifier(const VerifyOptions& options, const Stop& stop)
      : meant_options_(options), form_options_(options), stop_(stop) {
    meant_options_.domains = form_options_.domains = Domains::Given;
    meant_options_.conditions = Conditions::Found;
    form_options_.assume = Assume::BothSides;
    form_options_.conditions = Conditions::AsGiven;
  }

  MatchedFinding run(const Matched& m) {
    out_.meant = examine(m.rule, meant_options_, &stop_);
    broadcast_forms_ = m.forms.empty() ? 0 : m.forms.size() - 1;
    for (size_t k = 0; k < m.forms.size(); ++k) judge(m.forms[k], k == 0);
    if (must_end(&stop_)) {
      out_.matched = {VerdictKind::Unknown, "interrupted"};
    } else if (out_.forms_proved == m.forms.size() && !m.forms.empty()) {
      out_.matched = {VerdictKind::ProvedAllSizes, {}};
    } else if (out_.forms_refuted > 0) {
      out_.matched = {VerdictKind::Refuted, counterexample_};
    } else {
      out_.matched = {VerdictKind::Unknown, reason_.empty() ? "no form fits" : reason_};
    }
    if (out_.matched.kind != VerdictKind::ProvedAllSizes) conclude();
    return std::move(out_);
  }

 private:
  void judge(const Rule& form, bool plain) {
    if (!plain && hopeless()) return;
    Finding f = examine(form, form_options_, &stop_);
    VerdictKind kind = f.rule.verdict.kind;
    if (kind == VerdictKind::ProvedAllSizes) {
      ++out_.forms_proved;
      (plain ? plain_ : broadcast_).push_back(signature_text(form));
    } else if (kind == VerdictKind::Refuted) {
      ++out_.forms_refuted;
      if (out_.forms_refuted == 1) {
        counterexample_ = f.refutation;
        out_.counterexample = std::move(f.counterexample);
        out_.refuted = std::move(f.refuted);
      }
    } else if (reason_.empty()) {
      reason_ = signature_text(form) + ": " + f.rule.verdict.detail;
    }
    if (plain && kind != VerdictKind::ProvedAllSizes) restrict_plain(form);
  }
  /// Nothing more is learnt from forms once the plain one holds under no condition.
  bool hopeless() const { return plain_.empty() && out_.forms_refuted > 0; }

  void restrict_plain(const Rule& form) {
    VerifyOptions o = form_options_;
    o.conditions = Conditions::Found;
    Finding f = examine(form, o, &stop_);
    if (f.rule.verdict.kind != VerdictKind::ProvedAllSizes) return;
    condition_ = f.condition;
  }
  void conclude() {
    if (!condition_.empty()) out_.conditions.push_back(condition_);
    if (plain_.empty() && condition_.empty()) return;
    if (broadcast_.size() == broadcast_forms_) return;
    out_.conditions.push_back(broadcast_.empty() ? "no broadcasting" : allowed());
  }
  std::string allowed() const {
    std::string s = "broadcasting only as in ";
    for (size_t k = 0; k < broadcast_.size(); ++k) s += (k ? " | " : "") + broadcast_[k];
    return s;
  }

  VerifyOptions meant_options_, form_options_;
  const Stop& stop_;
  MatchedFinding out_;
  std::vector<std::string> plain_, broadcast_;  // signatures that are proved
  size_t broadcast_forms_ = 0;
  std::string counterexample_, reason_, condition_;
};

}  // namespace

std::vector<MatchedFinding> verify_matched(std::span<const Matched> rules,
                                           const VerifyOptions& options, const Stop& stop) {
  std::vector<MatchedFinding> findings(rules.size());
  Progress progress("verify", "rules", rules.size(), options.verbosity);
  int threads = options.threads > 0 ? options.threads : default_threads();
  parallel_for(rules.size(), threads, [&](size_t k) {
    auto start = std::chrono::steady_clock::now();
    findings[k] = FormsVerifier(options, stop).run(rules[k]);
    findings[k].milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    progress.add();
  });
  return findings;
}

}  // namespace regraft::verify

#include "verify/forms.h"

#include <fmt/format.h>

#include <chrono>

#include "verify/bounded.h"
#include "verify/prover.h"

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
    meaning_ = m.meaning;
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
    if (out_.forms_refuted > 0) {  // one counterexample is enough
      if (!plain_ok_ || !proved_quickly(form)) return;
      out_.broadcasts.push_back(signature_text(form));
      ++out_.forms_proved;
      return;
    }
    Finding f = examine(form, form_options_, &stop_);
    VerdictKind kind = f.rule.verdict.kind;
    if (kind == VerdictKind::ProvedAllSizes) {
      ++out_.forms_proved;
      plain_ok_ = plain_ok_ || plain;
      if (!plain) out_.broadcasts.push_back(signature_text(form));
    } else if (kind == VerdictKind::Refuted) {
      ++out_.forms_refuted;
      counterexample_ = f.refutation;
      out_.counterexample = std::move(f.counterexample);
      out_.refuted = std::move(f.refuted);
    } else if (reason_.empty()) {
      reason_ = signature_text(form) + ": " + f.rule.verdict.detail;
    }
  }
  bool proved_quickly(const Rule& form) {
    auto instance = instance_at(form, form.domain[0], Assume::BothSides);
    if (!instance) return false;
    auto sizes = sample_sizes(*instance, form_options_.seed, 4);
    for (const Valuation& v : sizes)
      if (compare_terms(*instance, v) == TermsAnswer::Different) return false;
    SymbolicProver prover(limits_for(form_options_.effort), &stop_);
    return prover.prove(*instance).kind == VerdictKind::ProvedAllSizes;
  }

  void conclude() {
    bool meant = out_.meant.rule.verdict.kind == VerdictKind::ProvedAllSizes;
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

  VerifyOptions meant_options_, form_options_;
  const Stop& stop_;
  MatchedFinding out_;
  bool plain_ok_ = false;  // the form without broadcasting is proved
  size_t broadcast_forms_ = 0;
  std::string counterexample_, reason_, meaning_;
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

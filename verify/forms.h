#pragma once
// Judging a rule for all that someone else's matcher lets through.
#include <span>
#include <string>
#include <vector>

#include "verify/verify.h"

namespace regraft::verify {

/// A rule as it is meant, and what a matcher makes of it.
struct Matched {
  Rule rule;
  /// Directed, a signature each; applied wherever both sides can be built. The first has no axis
  /// that is broadcast.
  std::vector<Rule> forms;
  /// What the rule says beyond its first form, in words: "one group on the left side". Empty:
  /// nothing.
  std::string meaning;
};

/// When the rule itself is judged.
enum class Meant : uint8_t {
  Always,
  WhereNeeded,  ///< when its first form is not proved
};

/// What was found of a rule and its forms.
struct MatchedFinding {
  /// The rule as it is meant, with the conditions under which it holds there: what may be used.
  /// Not judged where that is not needed.
  Finding meant;
  /// ProvedSolver: all forms are, by the provers. Refuted: one is, with its counterexample. Else
  /// Unknown.
  Verdict matched;
  /// Under which it is proved nevertheless: what the rule means beyond its first form and the
  /// condition found for it, then "no broadcasting" or in how many ways it may be. Empty when
  /// matched is proved, or nothing is.
  std::vector<std::string> conditions;
  std::vector<std::string> broadcasts;           ///< signatures with broadcasting that are proved
  std::optional<Counterexample> counterexample;  ///< of `refuted`, when matched is Refuted
  Rule refuted;
  size_t forms_proved = 0, forms_refuted = 0;
  double milliseconds = 0;  ///< of its thread's CPU
};

/// All rules, in parallel, with progress on stderr; as many findings, in their order. Those not
/// reached before `stop` are Unknown "interrupted".
std::vector<MatchedFinding> verify_matched(std::span<const Matched> rules,
                                           const VerifyOptions& options, Meant meant,
                                           const Stop& stop);

}  // namespace regraft::verify

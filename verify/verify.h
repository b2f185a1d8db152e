#pragma once
// Judging candidate rules: at which signatures they hold, and the verdict.
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "base/progress.h"
#include "ir/rule/rule.h"
#include "verify/arithmetic/solver.h"
#include "verify/derivations/derive_rules.h"
#include "verify/numerics/numerics.h"
#include "verify/refute/counterexample.h"
#include "verify/replay/instance.h"

namespace regraft::verify {

/// What to do with a candidate that says for which signatures it is meant.
enum class Domains : uint8_t {
  Given,    ///< try those only
  Widened,  ///< when all of them are proved, try the usual ones as well; not of a rule that is
            ///< said to be proved for all sizes, whose signatures were found that way
};

/// What to do with a rule that does not hold as it stands.
enum class Conditions : uint8_t {
  AsGiven,  ///< judge it as it is
  Found,    ///< look for the weakest condition under which it holds, see conditions.h
};

struct VerifyOptions {
  uint64_t seed = 7;       ///< of the numeric checks
  int threads = 0;         ///< 0: as many as the machine has
  uint64_t effort = 1;     ///< multiplies the limits of each proof
  size_t signatures = 32;  ///< how many signatures of a rule are tried
  Domains domains = Domains::Widened;
  Assume assume = Assume::LeftSide;  ///< BothSides: with Domains::Given, of directed rules
  Conditions conditions = Conditions::AsGiven;
  /// Tried before the prover, which is asked where the kernel refuses them; nullptr: none.
  const DerivationBook* derivations = nullptr;
  bool kernel = true;  ///< false: no derivations are looked for; all is proved:solver
  Verbosity verbosity = Verbosity::Normal;
};

/// What happened; sums over rules.
struct VerifyCounters {
  uint64_t candidates = 0, duplicates = 0, trivial = 0;
  uint64_t joined = 0;  ///< proved candidates that another proved rule states as well
  uint64_t proved = 0, bounded = 0, tested = 0, refuted = 0, unknown = 0;
  uint64_t by_provers = 0;      ///< of the proved ones, by the provers alone: proved:solver
  uint64_t reversible = 0;      ///< of the proved ones, in both directions
  uint64_t conditional = 0;     ///< of the proved ones, under a condition that was found
  uint64_t instances = 0;       ///< rules at one signature that were looked at
  uint64_t proofs = 0;          ///< of them, proved for all sizes
  uint64_t kernel_proofs = 0;   ///< of the rules proved for all sizes: proofs there are to check,
  uint64_t kernel_checked = 0;  ///< and those of which the kernel accepted a derivation
  double deriving = 0;    ///< seconds of CPU that fitting these, looking for and checking them took
  uint64_t replayed = 0;  ///< of the instances proved, by a derivation that was at hand
  uint64_t disagreements = 0;  ///< proofs that the second prover did not confirm
  /// Directions of proved rules, by what they do in floating point.
  std::map<Numerics, uint64_t> numerics;
  OracleStats solver;
  double seconds = 0, cpu_seconds = 0;
};

/// What was found of one rule.
struct Finding {
  Rule rule;              ///< with verdict and domain
  std::string condition;  ///< what was added to `where`: "v.2=w.2"; mostly empty
  /// The first one at the signatures looked at, also of a rule that holds at others or under the
  /// condition that was found.
  std::optional<Counterexample> counterexample;
  Rule refuted;             ///< the directed rule that it is of, when there is one
  std::string refutation;   ///< the same in words; empty when there is none
  NumericsReport numerics;  ///< of a proved rule, which has its verdicts
  /// Of a rule proved for all sizes: proofs that the kernel did not accept, and where the search
  /// for a derivation ended.
  std::vector<std::pair<std::string, std::string>> prover_only;
  Answers derivations;  ///< what it accepted or not; empty in a finding that was kept in a store
  VerifyCounters counters;
  double milliseconds = 0;  ///< of its thread's CPU, without the numerics
};

/// Verdicts of earlier runs. Both functions may be called from several threads at once.
struct VerdictStore {
  std::function<std::optional<Finding>(const Rule& candidate)> find;
  std::function<void(const Rule& candidate, const Finding& finding)> keep;
};

struct VerifyReport {
  /// What was found of each candidate, without duplicates and trivial ones, in their order.
  std::vector<Finding> findings;
  /// Of each candidate its place in `findings`; nullopt: trivial. Two at one place are the same
  /// candidate.
  std::vector<std::optional<size_t>> places;
  /// The candidates that were judged, with verdict and domain; a rule and its reverse, both proved
  /// at the same signatures, are one.
  std::vector<Rule> rules;
  std::vector<size_t> joined;  ///< of each finding its place in `rules`
  VerifyCounters counters;
  bool interrupted = false;  ///< rules that were not reached are Unknown "interrupted"
};

/// Tries the rule's own domain, or else the usual signatures; a signature that a proved one covers
/// (1 is a size) is not listed. ProvedAllSizes: `domain` has the signatures proved for all sizes,
/// at least one, and the kernel accepted a derivation of every proof (proofs.h has them);
/// ProvedSolver: the same, but it did not; ProvedBounded: those proved at sample shapes. Signatures
/// that are refuted or unknown are left out. A reversible rule keeps the signatures at which both
/// directions are proved; when there are none it becomes the better direction, directed. Refuted:
/// no signature held, with a counterexample. Deterministic for given options (threads do not
/// matter).
Rule verify_rule(const Rule& candidate, const VerifyOptions& options);
/// The same with all that was found.
Finding examine(const Rule& candidate, const VerifyOptions& options, const Stop* stop = nullptr);

/// All rules, in parallel, with progress on stderr. Rules that `store` has are not judged again;
/// those that were not reached are not kept.
VerifyReport verify_rules(std::span<const Rule> candidates, const VerifyOptions& options,
                          const Stop& stop, const VerdictStore& store = {});
/// Adds what is summed over rules.
void add_counters(VerifyCounters& total, const VerifyCounters& c);
void count_verdict(VerifyCounters& c, VerdictKind kind);

}  // namespace regraft::verify

#pragma once
// Does a rule follow from other rules? Equality saturation at a few random sizes: both sides are
// put into an e-graph, the rules are applied in both directions, and the sides must become equal.
// That is a proof at these sizes only; sizes are chosen apart so that little holds by accident.
// Source: equality saturation (egg, POPL 2021), rule minimisation (Ruler, OOPSLA 2021).
#include <functional>
#include <memory>
#include <optional>

#include "base/parallel.h"
#include "ir/rule/rule.h"

namespace regraft::gen {

/// Work is counted, so that results do not depend on the clock.
struct DeriveOptions {
  size_t max_nodes = 3000;          ///< nodes of an e-graph
  int max_rounds = 30;              ///< rounds of applying all rules
  int slack = 2;                    ///< calls by which a term may exceed the goal's larger side
  size_t matches_per_rule = 300;    ///< in a round
  uint64_t steps_per_rule = 20000;  ///< calls looked at in a round
  uint64_t max_steps = 1'000'000;   ///< of all rules, in an e-graph
  size_t max_signatures = 6;        ///< shapes of the goal's domain that are tried
  int assignments = 2;              ///< sizes tried at each; all must derive
  uint64_t seed = 7;
};

struct Derivation {
  bool derived = false;
  bool tried = false;        ///< false: no sizes were found at which the left side is well-formed
  bool stopped = false;      ///< it was asked to end before it knew
  bool well_formed = true;   ///< false: at some of these sizes the right side is not well-formed
  std::vector<size_t> used;  ///< when derived: numbers of the rules in its proofs, ascending
  int rounds = 0;            ///< of the longest run
  size_t nodes = 0;          ///< of the largest run
  size_t refused = 0;        ///< applications that were not well-formed: faults in the rules
};

class Matchable;
class RuleFilter;
struct RuleSet;

/// Rules to derive from. All members are const and thread-safe; results depend on the arguments
/// alone.
class Deriver {
 public:
  explicit Deriver(std::vector<Rule> rules, DeriveOptions options = {});
  ~Deriver();
  const std::vector<Rule>& rules() const { return rules_; }

  Derivation derive(const Rule& goal, const Stop& stop = Stop()) const;
  /// From the rules that `allowed` marks.
  Derivation derive(const Rule& goal, const std::vector<char>& allowed,
                    const Stop& stop = Stop()) const;

 private:
  Derivation derive(const Rule& goal, const RuleSet& rules, const Stop& stop) const;

  std::vector<Rule> rules_;
  std::vector<std::unique_ptr<const Matchable>> matchables_;
  std::unique_ptr<const RuleFilter> filter_;
  DeriveOptions options_;
};

/// Whether a rule follows, and from which: all that dropping rules needs to know.
struct Answer {
  bool derived = false;
  std::vector<size_t> used;
};
/// Answers that an earlier run gave to the same questions: called with the number of the question,
/// from any thread. Both empty, or neither.
struct Answers {
  std::function<std::optional<Answer>(size_t)> find;
  std::function<void(size_t, const Answer&)> keep;
};

/// One for each goal. Those that `stop` left out are not tried.
std::vector<Derivation> derive_all(const Deriver& deriver, const std::vector<Rule>& goals,
                                   int threads, const Stop& stop);
/// Whether each goal follows, unless `answers` says so; false where `stop` left it out.
std::vector<char> derivable(const Deriver& deriver, const std::vector<Rule>& goals, int threads,
                            const Stop& stop, const Answers& answers = {});

/// Marks the rules that remain when, from the largest to the smallest, each rule is dropped that
/// follows from remaining ones whose larger side has no more calls. What `stop` left undecided
/// remains. Deterministic unless stopped. Questions of `answers`: 2 k, does rule k follow from all
/// others that are no larger; 2 k + 1, does it from those that remain.
std::vector<char> minimal(const std::vector<Rule>& rules, const DeriveOptions& options, int threads,
                          const Stop& stop, const Answers& answers = {});

}  // namespace regraft::gen

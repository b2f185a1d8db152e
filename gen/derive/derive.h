#pragma once
// Does a rule follow from other rules? Equality saturation at a few random sizes: both sides are
// put into an e-graph, the rules are applied in both directions, and the sides must become equal.
// That is a proof at these sizes only; sizes are chosen apart so that little holds by accident.
// Source: equality saturation (egg, POPL 2021), rule minimisation (Ruler, OOPSLA 2021).
#include <memory>

#include "base/parallel.h"
#include "ir/rule/rule.h"

namespace regraft::gen {

/// Work is counted, so that results do not depend on the clock.
struct DeriveOptions {
  size_t max_nodes = 3000;          ///< nodes of an e-graph
  int max_rounds = 30;              ///< rounds of applying all rules
  int slack = 3;                    ///< calls by which a term may exceed the goal's larger side
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
  /// When not derived: what the run that failed rests on. Unless `limited`, it does not follow from
  /// fewer rules either; if it was, the run is the same without rules that are not in `matched`,
  /// and always with more rules that are not in `candidates`. Ascending.
  bool limited = false;  ///< by nodes, steps, rounds or matches
  std::vector<uint32_t> matched, candidates;
};

class Matchable;
class PatternTrie;
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
  std::unique_ptr<const PatternTrie> trie_;
  DeriveOptions options_;
};

/// One for each goal. Those that `stop` left out are not tried.
std::vector<Derivation> derive_all(const Deriver& deriver, const std::vector<Rule>& goals,
                                   int threads, const Stop& stop);
}  // namespace regraft::gen

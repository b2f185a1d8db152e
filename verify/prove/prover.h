#pragma once
// The seam between a rule at one signature and whatever proves it.
#include <map>
#include <optional>
#include <string>

#include "ir/algebra/concrete.h"
#include "ir/rule/rule.h"
#include "verify/arithmetic/solver.h"

namespace regraft::verify {

/// Answers are sound: ProvedSolver means that wherever the left side is well formed, the right
/// side is too, has the same shapes, and computes the same real numbers. Scope: real arithmetic.
struct Prover {
  virtual ~Prover() = default;
  virtual Verdict prove(const RuleInstance& instance) = 0;
};

/// What is known of the values of both sides where both are well formed.
enum class Values : uint8_t {
  Open,
  Equal,  ///< proved with the other side as the left one, which asks more or less of the sizes
};

/// Numbers in attributes that stand for fractions: 1/6 is no double.
using Fractions = std::map<double, Rational>;

/// Proofs for all sizes: both sides as sums of guarded products over symbolic indices. Any limit,
/// overflow or open question is Unknown with the reason. Deterministic. Not thread-safe.
class SymbolicProver final : public Prover {
 public:
  explicit SymbolicProver(const Limits& limits = {}, const Stop* stop = nullptr,
                          Fractions fractions = {})
      : limits_(limits), stop_(stop), fractions_(std::move(fractions)) {}
  Verdict prove(const RuleInstance& instance) override { return prove(instance, Values::Open); }
  Verdict prove(const RuleInstance& instance, Values values);
  /// Why a real attribute that the right side computes is not known to be defined, whatever else is
  /// shown of the instance; nullopt: each is, wherever the conditions of the rule hold.
  std::optional<std::string> undefined_attribute(const RuleInstance& instance) const;
  /// Called with each conjunction that a proof shows to be unsatisfiable, as often as it does.
  std::function<void(const Conjunction&)> on_refuted;
  /// Of all proofs so far.
  const OracleStats& stats() const { return stats_; }

 private:
  Limits limits_;
  const Stop* stop_;
  Fractions fractions_;
  OracleStats stats_;
};

/// Equalities of a domain solved for size symbols. What was known of a solved symbol (its minimum)
/// stays in `domain` as a literal.
struct SolvedDomain {
  Substitution sizes;
  Conjunction domain;
  bool named = false;  ///< quotients have names: what was substituted is to be so again
};
SolvedDomain solve_sizes(const Conjunction& domain);

}  // namespace regraft::verify

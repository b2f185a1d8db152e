#pragma once
// Small shapes and attributes at which a rule's left side is well formed.
#include <functional>
#include <vector>

#include "ir/rule/rule.h"
#include "verify/prove/prover.h"

namespace regraft::verify {

/// The sizes and attributes at which the left side of an instance is well formed: some symbols are
/// free, the others follow from its equalities. The instance must outlive it.
class SizeSpace {
 public:
  explicit SizeSpace(const RuleInstance& instance);
  /// False when a symbol is something that cannot be drawn.
  bool usable() const { return usable_; }
  const std::vector<Var>& free() const { return free_; }
  /// Gives the other symbols values, where the free ones have some; false where the left side is
  /// not well formed. Throws PolyOverflow.
  bool complete(Valuation& sizes) const;
  /// Calls visit for all values of the free symbols that exceed their minima by `excess` together,
  /// until it returns true; whether it did.
  bool for_each(int64_t excess, const std::function<bool(const Valuation&)>& visit) const;

 private:
  const RuleInstance& instance_;
  SolvedDomain solved_;
  std::vector<Var> free_, dependent_;
  bool usable_ = true;
};

/// Values of all Size symbols of an instance that satisfy requires_lhs and keep every shape small:
/// up to `count` distinct ones, smallest first; empty when none was found. Mixes pairwise distinct
/// sizes, sizes that may coincide, and sizes of 1; `spread` says how far above their minima the
/// first ones lie. Deterministic in the seed.
std::vector<Valuation> sample_sizes(const RuleInstance& instance, uint64_t seed, size_t count,
                                    int64_t spread = 2);

/// The same where sizes are small numbers times products of powers of the attribute variables, as
/// depth-to-space of depth-to-space wants them; none where there are no such variables.
std::vector<Valuation> sample_products(const RuleInstance& instance, uint64_t seed, size_t count);

/// The same sizes with 0 for an unknown real, where the left side is well formed then.
std::vector<Valuation> with_zero(const RuleInstance& instance, Var real,
                                 const std::vector<Valuation>& sizes);

/// A condition over the symbols of a pool, at the numbers that a valuation gives unknown reals.
bool holds_at(const RealCondition& c, SymbolPool& pool, const Valuation& sizes);

/// "a=[2,3] b=[3] s.0=2": the inputs' shapes and the attribute variables.
std::string describe(const RuleInstance& instance, const Valuation& sizes);

/// Elements of all values of both graphs at these sizes; -1 when a shape is not positive.
int64_t total_elements(const RuleInstance& instance, const Valuation& sizes);

}  // namespace regraft::verify

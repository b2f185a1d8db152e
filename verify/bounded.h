#pragma once
// The second prover: exact polynomials over the inputs' elements at given shapes. It shares nothing
// with the symbolic one but the operators' formulas.
#include "verify/prover.h"
#include "verify/sampling.h"

namespace regraft::verify {

/// Proves equality at a few sampled shapes: ProvedBounded with the shapes, or Unknown (also where
/// the polynomials differ, since functions in them are opaque).
class TermsProver final : public Prover {
 public:
  explicit TermsProver(uint64_t seed, size_t shapes = 2) : seed_(seed), shapes_(shapes) {}
  Verdict prove(const RuleInstance& instance) override;

 private:
  uint64_t seed_;
  size_t shapes_;
};

enum class TermsAnswer : uint8_t { Equal, Different, TooLarge };
/// Whether all outputs are the same polynomials at these sizes.
TermsAnswer compare_terms(const RuleInstance& instance, const Valuation& sizes);

}  // namespace regraft::verify

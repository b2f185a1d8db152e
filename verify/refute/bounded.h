#pragma once
// The second prover: exact polynomials over the inputs' elements at given shapes. It shares nothing
// with the symbolic one but the operators' formulas.
#include "verify/prove/prover.h"
#include "verify/refute/sampling.h"

namespace regraft::verify {

enum class TermsAnswer : uint8_t {
  Equal,      ///< all outputs are the same polynomials
  Different,  ///< they are different polynomials of the inputs: a refutation
  Unclear,    ///< they differ in terms with functions, which are opaque here
  TooLarge,   ///< more elements than polynomials are made for
};
TermsAnswer compare_terms(const RuleInstance& instance, const Valuation& sizes);

/// What the polynomials say at many sizes.
struct BoundedReport {
  TermsAnswer answer = TermsAnswer::TooLarge;  ///< Equal: at all `shapes`, at least two
  std::string detail;                          ///< Different and Unclear: the shape
  std::vector<Valuation> shapes;
  int64_t limit = 0;  ///< above 0: these are all whose sizes and attributes are at most so much
};

/// Compares both sides at sizes and attributes up to 4: at all of them where that takes at most
/// `elements` elements and 512 assignments of sizes, or else up to 3, or 2, and else at a sample of
/// at most 24.
BoundedReport compare_bounded(const RuleInstance& instance, uint64_t seed, int64_t elements);

/// Proves equality at the shapes of compare_bounded and, where these do not exercise each attribute
/// and each two of them (see exercise.h), at more: ProvedBounded with all shapes by name, or
/// Unknown with the reason.
class TermsProver final : public Prover {
 public:
  explicit TermsProver(uint64_t seed, int64_t elements = 30'000)
      : seed_(seed), elements_(elements) {}
  Verdict prove(const RuleInstance& instance) override;

 private:
  uint64_t seed_;
  int64_t elements_;
};

}  // namespace regraft::verify

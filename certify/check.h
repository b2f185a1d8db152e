#pragma once
// Making certificates, and checking them without the search, the cost model or the rule files.
#include "certify/certificate.h"
#include "io/model.h"
#include "rewrite/match/rule_index.h"

namespace regraft::certify {

/// Of a derivation that led from `input` to `result` with rules of `index`. `base` is the input
/// with the bodies that the derivation made, or the input itself where it made none; `result` was
/// made from it. An Error: a constant cannot be read, or the result has no ONNX form.
Result<Certificate> make_certificate(const io::Imported& input, const io::Imported& base,
                                     const Graph& result, const rewrite::RuleIndex& index,
                                     Derivation derivation);

/// The rules as the verifier proves them now, whatever their lines say; their verdicts tell whether
/// the kernel accepted the proofs. An Error names a rule that
/// is not proved in the directions, for the shapes and under the conditions it says.
Result<std::vector<Rule>> prove_rules(const std::vector<Rule>& claims, uint64_t seed, int threads);

/// The models that a certificate is held against, and their digests (digest_of in io/model.h).
struct Models {
  const io::Imported& input;
  Digest input_digest, output_digest;
};
/// Error unless the digests are those of the certificate, and the steps lead from the one model to
/// the other, bodies first: each must be a match of its rule, found anew. `rules`: those of the
/// certificate, or what prove_rules made of them. Nothing is written to any file.
Status check_certificate(const Certificate& certificate, const std::vector<Rule>& rules,
                         const Models& models);

}  // namespace regraft::certify

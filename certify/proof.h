#pragma once
// The certificate of a validation: how two models were shown to compute the same.
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "rewrite/search/searcher.h"
#include "verify/model/sweep.h"

namespace regraft::certify {

/// What is known of an output, from worst to best.
enum class Equivalence : uint8_t {
  Refuted,        ///< a counterexample, or another interface
  Unknown,        ///< neither
  UpToConstants,  ///< proved, but for constants that differ by what rounding explains
  Proved,         ///< over the reals, for all inputs and all values of the open sizes
};
std::string to_string(Equivalence e);

struct BodyProofs;

/// How one pair of graphs was shown to be equal. Values are those of the joint graph, which is the
/// same for the same models and steps.
struct ModelProof {
  std::vector<rewrite::AppliedRule> a, b;  ///< what made the graphs alike, by proved rules
  std::vector<verify::Merge> merges;
  std::vector<BodyProofs> bodies;  ///< of nodes that differ in their bodies only
};
/// Of one pair of nodes, by its place among the pairs that differ in bodies.
struct BodyProofs {
  size_t pair = 0;
  std::vector<ModelProof> proofs;  ///< one for each body
};

struct ProofCertificate {
  Digest a, b;                           ///< of the models, with the sizes fixed
  std::map<std::string, int64_t> sizes;  ///< that were fixed in the first model
  bool constants = true;                 ///< they may differ by rounding
  std::vector<Rule> rules;               ///< that the proof's steps use
  ModelProof proof;
  std::vector<Equivalence> outputs;  ///< what is claimed, by output of the first model
};

/// Names of the rules that the proof's steps use.
std::set<std::string> used_rules(const ModelProof& proof);

/// JSON with a digest of all its fields.
std::string to_text(const ProofCertificate& certificate);
/// An Error is one line with `name`: text that is none, or was changed.
Result<ProofCertificate> parse_proof(std::string_view text, const std::string& name);
Result<ProofCertificate> read_proof(const std::string& path);

}  // namespace regraft::certify

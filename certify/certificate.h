#pragma once
// Certificates: which proved rules, applied where, lead from one model to another.
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "io/bodies/bodies.h"
#include "rewrite/search/searcher.h"

namespace regraft::certify {

struct BodyDerivation;

/// What was done to a model, in this order.
struct Derivation {
  std::vector<rewrite::AppliedRule> steps;
  std::vector<int32_t> folded;         ///< see FoldReport
  std::vector<BodyDerivation> bodies;  ///< before all else, to these bodies of its nodes
};
/// And to one of its bodies.
struct BodyDerivation {
  io::BodyPlace place;
  Derivation done;
};

struct Certificate {
  Digest input, output;     ///< of the models: what they compute, all constants included
  Opset opset;              ///< that new operators of the main graph were written for
  std::vector<Rule> rules;  ///< with verdict and domain; those that the steps use
  Derivation done;
};

/// Names of the rules that the steps use, those in bodies too.
std::set<std::string> used_rules(const Derivation& derivation);

/// JSON: the digests, the rules as sealed lines of a rule file, the steps, the folded calls, the
/// same of each body, and a digest of all that. REQUIRES: the rules are proved, and are those that
/// the steps use.
std::string to_text(const Certificate& certificate);
/// An Error is one line with `name`, which stands for the file: text that is no certificate or was
/// changed, a rule whose seal does not fit, that no step uses or that is missing. Whoever changes a
/// certificate can make its digests anew: that is what check_certificate is for.
Result<Certificate> parse_certificate(std::string_view text, const std::string& name);
/// The same from a file.
Result<Certificate> read_certificate(const std::string& path);

}  // namespace regraft::certify

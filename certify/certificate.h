#pragma once
// Certificates: which proved rules, applied where, lead from one model to another.
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "rewrite/search/searcher.h"

namespace regraft::certify {

struct Certificate {
  Digest input, output;     ///< of the models: what they compute, all constants included
  int opset = 0;            ///< that new operators were written for
  std::vector<Rule> rules;  ///< with verdict and domain; those that the steps use
  std::vector<rewrite::AppliedRule> steps;
  std::vector<int32_t> folded;  ///< then: calls on constants that were computed, in this order
};

/// JSON: the digests, the rules as sealed lines of a rule file, the steps, the folded calls, and a
/// digest of all that. REQUIRES: the rules are proved, and are those that the steps use.
std::string to_text(const Certificate& certificate);
/// An Error is one line with `name`, which stands for the file: text that is no certificate or was
/// changed, a rule whose seal does not fit, that no step uses or that is missing. Whoever changes a
/// certificate can make its digests anew: that is what check_certificate is for.
Result<Certificate> parse_certificate(std::string_view text, const std::string& name);
/// The same from a file.
Result<Certificate> read_certificate(const std::string& path);

}  // namespace regraft::certify

#pragma once
// Certificates: which proved rules, applied where, lead from one model to another.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/model.h"
#include "rewrite/searcher.h"

namespace regraft::cli {

struct Certificate {
  uint64_t input_hash = 0;  ///< structural_hash of the model that was optimised
  int opset = 0;            ///< that new operators were written for
  std::vector<Rule> rules;  ///< directed, with verdict and domain; those that the steps use
  std::vector<rewrite::AppliedRule> steps;
};

/// Of a search that started from `input` with rules of `index`.
Certificate make_certificate(const Graph& input, int opset, const rewrite::RuleIndex& index,
                             const rewrite::SearchReport& report);
/// JSON: the rules as sealed lines of a rule file, then the steps.
std::string to_text(const Certificate& certificate);
/// An Error names the file, and the rule whose seal does not fit its text.
Result<Certificate> read_certificate(const std::string& path);
/// The same from memory; `name` stands for the file in messages.
Result<Certificate> parse_certificate(std::string_view text, const std::string& name);

/// Verifies the rules' text anew. An Error names a rule that is not proved for the shapes it says.
Status prove_rules(const Certificate& certificate, uint64_t seed, int threads);
/// Error unless the steps lead from `input` to `output`, up to order, names and numbering.
Status check_certificate(const Certificate& certificate, const io::Imported& input,
                         const io::Imported& output);

}  // namespace regraft::cli

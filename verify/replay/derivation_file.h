#pragma once
// Files of derivations (docs/kernel.md): each rule with its content digest, and a derivation for
// each of its proofs that has one.
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/rule/rule.h"

namespace regraft::verify {

struct RuleDerivations {
  Rule rule;
  std::string digest;                          ///< content_digest(rule)
  std::map<std::string, std::string> by_name;  ///< of proofs, as for_each_proof names them
  std::set<std::string> none;                  ///< proofs of which the search found none
  size_t line = 0;                             ///< of the file where it was read
};

/// The text of a file; a derivation that several proofs of a rule have stands there once.
std::string to_text(const std::vector<RuleDerivations>& rules);
/// An Error is one line with `name` and the number of the line: another version, what is not of the
/// format, a rule that does not parse, a digest that is not the rule's. Derivations are not
/// checked.
Result<std::vector<RuleDerivations>> parse_derivations(std::string_view text,
                                                       const std::string& name);
/// The same of a file, which may be compressed (base/files/gzip.h).
Result<std::vector<RuleDerivations>> read_derivations(const std::string& path);

}  // namespace regraft::verify

#pragma once
// The rules that a command works with.
#include <string>
#include <vector>

#include "rewrite/match/rule_index.h"

namespace regraft::cli {

struct RuleSet {
  std::vector<std::string> files;                   ///< empty: the shipped ones
  std::vector<std::string> disabled;                ///< names of rules to leave out
  rewrite::Scope scope = rewrite::Scope::AllSizes;  ///< of the proofs that are admitted
  Numerics numerics = rewrite::usual_numerics();    ///< that directions need
};
/// `files`, or the shipped ones if it is empty.
std::vector<std::string> rule_files(const std::vector<std::string>& files);
/// What --proof says: "kernel", "solver" or "bounded".
rewrite::Scope proofs_wanted(const std::string& word);
/// What --numerics says: "rounding", "exact", or "real".
Numerics numerics_wanted(const std::string& word);
/// An Error names the file, and the line in it.
Result<rewrite::RuleIndex> load_rules(const RuleSet& set);

}  // namespace regraft::cli

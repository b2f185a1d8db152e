#pragma once
// A derivation as a person would write it: what is claimed, each step in words, and what it leaves.
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/rule/rule.h"

namespace regraft::verify {

struct ProofLine {
  int depth = 0;                           ///< how many parts of other steps it stands in
  std::string text;                        ///< a sentence
  std::vector<std::string> formulas = {};  ///< that it is about, or that it leaves
  std::string reason = {};                 ///< certificates of facts about sizes; empty: none
};

/// Of a claim at one signature: the formulas of both sides, and the steps while the kernel takes
/// them. `inputs` are the names of the rule's variables; `most`: lines that are told, 0: all. An
/// Error is why the kernel refuses, in one line. May make symbols in the instance's pool.
Result<std::vector<ProofLine>> narrate(const RuleInstance& instance,
                                       const std::vector<std::string>& inputs,
                                       const std::string& derivation, size_t most = 0);

}  // namespace regraft::verify

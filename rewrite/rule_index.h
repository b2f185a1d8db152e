#pragma once
// Proved rules, made ready for matching.
#include <unordered_map>

#include "ir/rule.h"

namespace regraft::rewrite {

/// Which verdicts are admitted.
enum class Scope : uint8_t {
  AllSizes,  ///< proved:all-sizes only
  Proved,    ///< also proved:bounded, which says nothing about other shapes
};

/// A rule and its form at each signature of its domain.
struct CompiledRule {
  Rule rule;
  std::vector<RuleInstance> instances;
  std::map<std::vector<int>, std::vector<int>> by_ranks;  ///< ranks of the variables -> instances
  std::vector<std::vector<char>>
      rhs_needs;  ///< for each output of the right: the variables it reads
};

/// Immutable; may be read from several threads.
class RuleIndex {
 public:
  /// A reversible rule becomes two directed ones, the second with "~" after its name. An Error
  /// names a rule that is not admitted, malformed, without a domain, or whose left side is a bare
  /// variable.
  static Result<RuleIndex> build(const std::vector<Rule>& rules, Scope scope = Scope::AllSizes);
  const std::vector<CompiledRule>& rules() const { return rules_; }
  /// Numbers of the rules whose first output is a call of `op`, in their order.
  const std::vector<int>& rooted_at(const OpDef* op) const;

 private:
  std::vector<CompiledRule> rules_;
  std::unordered_map<const OpDef*, std::vector<int>> by_root_;
  std::vector<int> none_;
};

}  // namespace regraft::rewrite

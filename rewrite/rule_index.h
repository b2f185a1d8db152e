#pragma once
// Proved rules, made ready for matching.
#include <memory>
#include <mutex>

#include "rewrite/symmetry.h"

namespace regraft::rewrite {

class Program;

/// Which verdicts are admitted.
enum class Scope : uint8_t {
  AllSizes,  ///< proved:all-sizes only
  Proved,    ///< also proved:bounded, which says nothing about other shapes
};

/// A rule at one signature, made when it is first asked for. Thread-safe.
class LazyInstance {
 public:
  explicit LazyInstance(Signature signature) : signature_(std::move(signature)) {}
  /// nullptr when the signature does not apply to the rule.
  const RuleInstance* get(const Rule& rule) const;
  /// By variable.
  std::vector<int> ranks() const;

 private:
  Signature signature_;
  mutable std::once_flag once_;
  mutable std::optional<RuleInstance> instance_;
};

/// A rule and its form at each signature of its domain.
struct CompiledRule {
  Rule rule;
  std::vector<std::unique_ptr<const LazyInstance>> instances;
  std::map<std::vector<int>, std::vector<int>> by_ranks;  ///< ranks of the variables -> instances
  std::vector<std::vector<char>>
      rhs_needs;                     ///< for each output of the right: the variables it reads
  std::vector<Symmetry> symmetries;  ///< but for the identity
};

/// Immutable; may be read from several threads.
class RuleIndex {
 public:
  /// A reversible rule becomes two directed ones, the second with "~" after its name. An Error
  /// names a rule that is not admitted, malformed, without a domain, or whose left side is a bare
  /// variable. A signature that does not apply to its rule is found out later and has no matches.
  static Result<RuleIndex> build(const std::vector<Rule>& rules, Scope scope = Scope::AllSizes);
  const std::vector<CompiledRule>& rules() const { return rules_; }
  /// Finds all their left sides.
  const Program& program() const { return *program_; }

 private:
  std::vector<CompiledRule> rules_;
  std::shared_ptr<const Program> program_;
};

}  // namespace regraft::rewrite

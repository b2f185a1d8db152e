#pragma once
// Proved rules, made ready for matching.
#include <deque>
#include <memory>
#include <mutex>
#include <span>

#include "ir/rule/family.h"
#include "rewrite/match/symmetry.h"

namespace regraft::rewrite {

class DiscriminationTree;

/// Which verdicts are admitted.
enum class Scope : uint8_t {
  Kernel,    ///< proved:all-sizes only: the kernel checked each proof
  AllSizes,  ///< also proved:solver, for all sizes by the provers alone
  Proved,    ///< also proved:bounded, which says nothing about other shapes
};

/// The numerics that a rule needs to be applied unless someone asks for others. Exact: these alone.
/// RoundingF32: rounding as well; a rule that is so in float32 only is not applied to float16.
/// Unknown: every rule that is proved over the reals.
Numerics usual_numerics();

/// A directed rule. What only places of it ask for is made when it is first asked for. Thread-safe.
class CompiledRule {
 public:
  /// REQUIRES: the rule is valid and directed.
  explicit CompiledRule(Rule directed) : rule(std::move(directed)), family(is_family(rule)) {}
  const Rule rule;
  const bool family;
  /// The rule at signature k of its domain; nullptr when that does not apply to it. REQUIRES: it is
  /// no family.
  const RuleInstance* instance(size_t k) const;
  /// The member of a family at these values of its variables; nullptr: there is none.
  const RuleInstance* instance(const Signature& plain, const AxisValues& values) const;
  /// Signature k has variables of these ranks.
  bool has_ranks(size_t k, std::span<const int> ranks) const;
  /// For each output of the right side: the variables it reads.
  const std::vector<std::vector<char>>& rhs_needs() const { return late().rhs_needs; }
  /// All but the identity.
  const std::vector<Symmetry>& symmetries() const { return late().symmetries; }

 private:
  struct Instance {
    std::once_flag once;
    std::unique_ptr<const RuleInstance> made;
  };
  struct Late {
    explicit Late(const Rule& rule);
    std::vector<std::vector<char>> rhs_needs;
    std::vector<Symmetry> symmetries;
    std::vector<Instance> instances;  ///< by signature
    std::mutex mutex;                 ///< of the members
    std::map<std::pair<Signature, AxisValues>, std::unique_ptr<const RuleInstance>> members;
  };
  Late& late() const;
  mutable std::once_flag once_;
  mutable std::unique_ptr<Late> late_;
};

/// Immutable; may be read from several threads.
class RuleIndex {
 public:
  /// A reversible rule becomes two directed ones, the second with "~" after its name. An Error
  /// names a rule that is not admitted, malformed, without a domain, or whose left side is a bare
  /// variable. A signature that does not apply to its rule is found out later and has no matches.
  /// Directions whose numerics are below `least` are left out.
  static Result<RuleIndex> build(std::vector<Rule> rules, Scope scope = Scope::AllSizes,
                                 Numerics least = usual_numerics());
  const std::deque<CompiledRule>& rules() const { return rules_; }
  Numerics least() const { return least_; }  ///< numerics of the rules that were let in
  /// The directions that were left out for theirs.
  const std::vector<Rule>& left_out() const { return left_out_; }
  size_t unsafe() const { return left_out_.size(); }
  /// The numerics of this rule are enough for tensors of this type.
  bool admits(const Rule& directed, DType type) const;
  /// Finds all their left sides.
  const DiscriminationTree& tree() const { return *tree_; }
  /// Rules of instruction selection (selection.h), which searches do not apply; may be none.
  const RuleIndex* selection() const { return selection_.get(); }
  void set_selection(RuleIndex rules) {
    selection_ = std::make_shared<const RuleIndex>(std::move(rules));
  }
  /// Those of another index.
  void share_selection(const RuleIndex& other) { selection_ = other.selection_; }

 private:
  Numerics least_ = usual_numerics();
  std::vector<Rule> left_out_;
  std::deque<CompiledRule> rules_;
  std::shared_ptr<const DiscriminationTree> tree_;
  std::shared_ptr<const RuleIndex> selection_;
};

}  // namespace regraft::rewrite

#pragma once
// One rule, read in one direction, at one application.
#include <array>

#include "gen/rewrites/rewrites.h"

namespace regraft::gen {

/// What stands for what while a rule is matched; kept from one match to the next for its memory.
struct RewriteState {
  std::vector<ClassId> variables, nodes;  ///< kNoClass: not bound
  std::vector<int64_t> numbers;
  std::vector<char> bound;  ///< which of the numbers
  std::vector<const std::vector<int64_t>*> lists;
  std::vector<size_t> trail;  ///< places bound, of numbers and then of lists, in turn
  std::vector<std::pair<const Poly*, int64_t>> expressions;
  std::vector<std::optional<std::pair<int, Operands>>> calls;  ///< of the other side
};

class RewriteMatcher {
 public:
  using Visit = FunctionRef<bool(const Rewritten&)>;
  RewriteMatcher(const Rewrites& rewrites, const Rewrites::Directed& rule, int size,
                 RewriteState& state, Visit visit);
  /// Calls `visit` for each match until it returns true, or a limit of counted work ends it: an
  /// operator within itself may be matched in as many ways as there are, and most of them fail.
  bool run(Application a);

 private:
  using Next = FunctionRef<bool()>;
  using Call = RuleCode::Call;
  struct Mark {
    size_t trail, expressions;
  };
  Mark mark() const { return {s_.trail.size(), s_.expressions.size()}; }
  void undo(Mark m);

  bool match(PatternRef ref, Application a, Next next);
  bool match_follower(const Call& call, Application a, Next next);
  bool match_operands(const Call& call, const Operands& operands, size_t k, Next next);
  bool match_class(PatternRef ref, ClassId c, Next next);
  bool bind_attrs(const Call& call, const Label& label);
  bool bind_list(const RuleCode::Ints& wanted, const std::vector<int64_t>& given);
  bool bind_number(size_t place, int64_t value);

  std::optional<int64_t> number(Var v) const;
  std::optional<int64_t> value(const Poly& p) const;
  std::optional<double> real_value(const std::string& expression) const;
  bool settle_expressions();
  bool known_to_hold(const Condition& c) const;
  bool known_to_hold(const RealCondition& c) const;
  void bind_by(const Poly& p, int64_t given);
  bool holds_here() const;
  bool finish();

  std::optional<int> instance_of(size_t node, const Operands& operands) const;
  bool has_attrs(const Call& call, const Label& label) const;
  bool has_list(const RuleCode::Ints& wanted, const std::vector<int64_t>& given) const;
  bool build();
  std::optional<Application> followed_call(PatternRef ref);
  ClassId class_of(PatternRef ref);
  MatchKind kind() const;
  std::optional<Application> call(PatternRef ref);

  const Rewrites& rewrites_;
  const ValueGraph& graph_;
  const Rewrites::Directed& rule_;
  const RuleCode& code_;
  const std::vector<Call>&from_, &to_;
  const int size_;
  RewriteState& s_;
  const Visit visit_;
  uint64_t steps_ = 0;  ///< calls looked at
};

}  // namespace regraft::gen

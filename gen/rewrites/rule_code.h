#pragma once
// A rule with its names resolved, made once and matched often: numbers and lists have places.
#include <optional>
#include <string>
#include <vector>

#include "ir/rule/rule.h"

namespace regraft::gen {

/// Immutable; the rule outlives it.
class RuleCode {
 public:
  enum class Kind : uint8_t {
    Given,       ///< a number
    Place,       ///< the variable at that place
    Expression,  ///< of variables and sizes
  };
  struct Number {
    Kind kind = Kind::Given;
    int64_t value = 0;
    size_t place = 0;
    const Poly* poly = nullptr;
  };
  /// An integer attribute.
  struct Ints {
    std::optional<size_t> list;       ///< the place of its list variable
    std::optional<int64_t> fallback;  ///< what all numbers are where the rule says nothing
    std::vector<Number> numbers;      ///< empty: it says nothing
  };
  struct RealNumber {
    Kind kind = Kind::Given;
    double value = 0;  ///< also what a variable that is not bound counts as
    size_t place = 0;
    const std::string* expression = nullptr;
  };
  struct Call {
    const PatternNode* node = nullptr;
    std::vector<Ints> ints;
    std::vector<RealNumber> reals;
  };
  /// What a symbol stands for: the number at a place, or an extent; neither for others.
  struct Meaning {
    std::optional<size_t> place;
    std::optional<size_t> variable;  ///< whose axis, from the back where it is below 0
    int axis = 0;
  };

  explicit RuleCode(const Rule& rule);
  const Rule& rule() const { return rule_; }
  /// The calls of a side of the rule, by node.
  const std::vector<Call>& calls(const Pattern& side) const {
    return &side == &rule_.lhs ? left_ : right_;
  }
  /// What the rule asks of real attributes, said or implied.
  const std::vector<RealCondition>& real_conditions() const { return real_conditions_; }
  /// Numbers of attributes, integers and the bits of reals.
  size_t number_places() const { return numbers_.size(); }
  size_t list_places() const { return lists_.size(); }
  Meaning meaning(Var v) const;
  /// The place of a real variable.
  std::optional<size_t> real_place(const std::string& name) const;

 private:
  static size_t place_of(std::vector<std::string>& names, const std::string& name);
  Call call_of(const PatternNode& node);
  Number number_of(const Poly& p);
  Meaning look_up(Var v) const;
  void note_symbols(const Poly& p);

  const Rule& rule_;
  std::vector<std::string> numbers_, lists_;  ///< names; those of reals begin with '.'
  std::vector<std::pair<Var, Meaning>> meanings_;
  std::vector<Call> left_, right_;
  std::vector<RealCondition> real_conditions_;
};

}  // namespace regraft::gen

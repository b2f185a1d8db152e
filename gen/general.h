#pragma once
// A pair of terms with attributes left open, and the rule that it is.
#include "gen/terms.h"
#include "ir/rule.h"

namespace regraft::gen {

/// A number that an attribute stands for.
struct Number {
  enum Kind : uint8_t {
    Given,  ///< `value`
    Size,   ///< extent `axis` of `leaf`
    Free,   ///< the variable ?`name`
  } kind = Given;
  int64_t value = 0;
  TermId leaf = -1;
  int axis = 0;
  std::string name;
};

/// What an attribute becomes in the rule.
struct Form {
  std::string list;             ///< the list variable ?list, or empty:
  std::vector<Number> numbers;  ///< one for each number
};

/// Attributes with the same name and the same witness numbers have one form.
using AttrKey = std::pair<std::string_view, std::vector<int64_t>>;
using Plan = std::map<AttrKey, Form>;

struct GeneralPair {
  TermId lhs = -1, rhs = -1;
  Plan plan;
};

AttrKey attr_key(const Label& label, size_t attr);
/// The rule lhs => rhs of single outputs. REQUIRES: leaves of rhs occur in lhs.
Rule to_rule(const Bank& bank, const GeneralPair& pair);
/// For each variable of the rule, in order: the leaf that it is.
std::vector<TermId> rule_leaves(const Bank& bank, const GeneralPair& pair);

}  // namespace regraft::gen

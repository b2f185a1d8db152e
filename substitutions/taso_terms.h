#pragma once
// Inside substitutions: what TASO's file says, and how it is said with our operators.
#include <map>
#include <string>
#include <vector>

#include "ir/rule.h"

namespace regraft::substitutions {

struct TasoTensor {
  int op = 0, output = 0;  ///< op < 0: a variable
};
struct TasoOperator {
  int type = 0;
  std::vector<TasoTensor> inputs;
  std::map<int, int> parameters;
};
struct TasoOutput {
  TasoTensor source, target;
};
struct TasoRule {
  std::vector<TasoOperator> source, target;
  std::vector<TasoOutput> outputs;
};

/// The rule in our operators, for the ranks and kernels it means. An Error says why it has no
/// counterpart.
Result<Rule> translated_rule(const TasoRule& rule, const std::string& name);
/// The rule with the equations between sizes that its right side needs and its left side does not
/// say: TASO compares them when it builds the right side.
Result<Rule> with_conditions(const Rule& rule);

}  // namespace regraft::substitutions

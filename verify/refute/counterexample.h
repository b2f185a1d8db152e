#pragma once
// Inputs at which the two sides of a rule differ, and how to make them small.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph/eval.h"
#include "ir/rule/rule.h"

namespace regraft::verify {

/// Where both sides of a rule differ, for given sizes and inputs.
struct Difference {
  enum Kind : uint8_t {
    IllFormed,  ///< the left side is well formed, the right side is not
    Shape,      ///< of an output
    Element,    ///< of an output
  } kind = Element;
  int output = 0;
  std::vector<int64_t> left_shape, right_shape;  ///< of that output; the latter unless IllFormed
  std::vector<int64_t> position;                 ///< Element: the first one that differs
  double left = 0, right = 0;                    ///< Element: both values
};

/// All that it takes to evaluate both sides of a rule once more.
struct Counterexample {
  Signature signature;
  std::map<std::string, int64_t> sizes;  ///< of the instance's integer symbols: "a.0", "?e", "s.1"
  std::map<std::string, double> reals;   ///< of the rule's real attribute variables: "e"
  std::vector<Array<double>> inputs;     ///< for each variable of the rule
  Difference difference;
};

/// "a=[1,2] s.0=2: output 0 at [0,1] is 3 on the left, 4 on the right; a=(1 2)".
std::string describe(const RuleInstance& instance, const Counterexample& c);

using Inputs = std::vector<Array<double>>;
struct Comparison {
  bool compared = false;  ///< the left side is well formed
  std::optional<Difference> difference;
};
/// Both sides over strict doubles. They differ where an element is one number on the left and
/// something else, beyond 1e-6 relative, on the right. Nothing is claimed of elements that are not
/// defined on the left.
Comparison compare_sides(const RuleInstance& instance, const Valuation& sizes,
                         const Inputs& inputs);
/// The same for a counterexample of a rule. An Error when it does not fit the rule.
Result<Comparison> replay(const Rule& rule, const Counterexample& c);

/// Random inputs of the shapes that the variables have at these sizes.
Inputs random_inputs(const RuleInstance& instance, const Valuation& sizes,
                     const std::function<double(int input, int64_t element)>& value);

/// A counterexample as it is.
Counterexample counterexample_at(const RuleInstance& instance, const Valuation& sizes,
                                 const Inputs& inputs, const Difference& difference);
/// A small counterexample, given a large one: as small sizes and attributes as a bounded search in
/// the order of their sum finds, then inputs that are 0, 1 or small integers where these differ
/// too. Deterministic.
Counterexample smallest(const RuleInstance& instance, const Valuation& sizes, const Inputs& inputs,
                        const Difference& difference, uint64_t seed);

}  // namespace regraft::verify

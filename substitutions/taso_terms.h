#pragma once
// Inside substitutions: what TASO's file says, and how it is said with our operators.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/rule/rule.h"

namespace regraft::substitutions {

// Numbers of operators and parameters in the file.
enum TasoType : int {
  kConv = 3,
  kMaxPool = 6,
  kAvgPool = 7,
  kConcat = 12,
  kSplit = 13,
  kTranspose = 15,
  kMul = 17,
  kMatmul = 18,
  kScalarMul = 19,  ///< operand 1 is a number
  kEnlarge = 20,
  kIdentityMatrix = 22,
  kIdentityKernel = 23,
  kOnes = 24,
  kPoolKernel = 25,
};
enum TasoParameter : int {
  kType = 0,
  kInputs = 1,
  kOutputs = 2,
  kKernelH = 4,
  kKernelW = 5,
  kStrideH = 6,
  kStrideW = 7,
  kPadding = 8,
  kActivation = 9,
  kDimensions = 10,
  kAxis = 11,
  kPermutation = 12,
  kShuffle = 13,
};
/// Operators without parameters: number -> our name.
const std::map<int, std::string_view>& elementwise_types();
/// The order in which TASO writes an operator's parameters.
std::vector<int> parameter_order(int type);

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

/// Which of the tensors that TASO's matcher lets through a rule is read for.
struct TasoForm {
  enum Groups : uint8_t {
    AsTried,   ///< those of the tensors that the rule was found with
    Inferred,  ///< any: channels of the data over those of the weight
  } groups = AsTried;
  std::map<int, std::string> words;          ///< of variables with axes that are broadcast: "1n11"
  std::map<std::string, std::string> sizes;  ///< known to be equal: "v7.1" -> "v8.1", "v9.0" -> "1"
};
/// A rule in our operators at one form, with that form as its domain.
struct TasoReading {
  Rule rule;
  bool broadcasts = false;  ///< some operator's operands have 1 and n on one axis
  bool grouped = false;     ///< a convolution has groups that are inferred
};
/// An Error says why the rule has no counterpart, or none of this form.
Result<TasoReading> reading_of(const TasoRule& rule, const std::string& name, const TasoForm& form);
/// The rule in our operators, for the ranks and kernels it means. An Error says why it has no
/// counterpart.
Result<Rule> translated_rule(const TasoRule& rule, const std::string& name);
/// The equations between sizes that an instance's left side says, solved.
Substitution equalities(const RuleInstance& instance);
/// The sizes of variables that must be equal, or a number, where both sides can be built.
std::map<std::string, std::string> equal_sizes(const Rule& rule);
/// Variables with their ranks, in ascending order.
std::map<int, size_t> ranks_of(const TasoRule& rule);
/// The rule with the equations between sizes that its right side needs and its left side does not
/// say: TASO compares them when it builds the right side.
Result<Rule> with_conditions(const Rule& rule);

}  // namespace regraft::substitutions

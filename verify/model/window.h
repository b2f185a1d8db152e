#pragma once
// A part of two models, between values that are known to be equal, as a rule to be proved.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/rule/rule.h"
#include "verify/prove/prover.h"

namespace regraft::verify {

/// Operands of each node as equal values are named by now.
using Operands = std::vector<std::vector<Value>>;

/// New symbols for sizes that are a symbol and a number: "past + 1".
using Shifted = std::map<std::pair<Var, int64_t>, Var>;

/// What a window is cut out of.
struct Cut {
  const Graph& graph;
  const Operands& operands;  ///< by node
  /// By node: the number that all elements of a small constant are.
  const std::vector<std::optional<double>>& number;
  int32_t first_b = 0;         ///< nodes from here on are the right side's alone
  Shifted* shifted = nullptr;  ///< symbols that windows have in common; nullptr: there are none
  const Substitution* sizes = nullptr;  ///< what sizes of the right side are known to be
};

/// A number of the second model, written as an expression over numbers of the first one.
struct ExplainedNumber {
  double number = 0;       ///< as the second model has it
  double exact = 0;        ///< of the expression
  std::string expression;  ///< "1 / 1.41421354"
};

/// Both sides over the same inputs.
struct Window {
  std::vector<Value> frontier;       ///< the inputs: values that both models have
  std::vector<int32_t> left, right;  ///< calls of each side, operands first
  RuleInstance instance;
  Fractions fractions;                     ///< that attributes of the right side stand for
  std::string key;                         ///< equal for windows that are alike
  std::string text;                        ///< "(relu (add x0 x1)) => (add-relu x0 x1)"
  std::vector<ExplainedNumber> explained;  ///< numbers of the right side that were replaced
};

/// Whether the walk ends at a value: it is an input of the window.
using Leaf = std::function<bool(Value)>;

/// The calls that `root` is computed by from leaves and constants, operands first. nullopt: an
/// opaque node is among them, or more than `most` calls.
std::optional<std::vector<int32_t>> cone(const Cut& cut, Value root, const Leaf& leaf, size_t most);

/// The numbers of a graph: of its constants that are one number, small ones only.
std::vector<std::optional<double>> numbers_of(const Graph& g);

/// Whether numbers of the right side that the left one has not may stand for expressions over the
/// left one's, which they are but for rounding.
enum class Numbers : uint8_t { AsTheyAre, Explained };

/// The window in which `a` is computed by `left` and `b` by `right`. Constants of one value are
/// numbers in it, others are inputs. nullopt: an operator does not take such operands, a shape is
/// not known, or the right side reads a constant that only it has.
std::optional<Window> make_window(const Cut& cut, Value a, Value b, std::vector<int32_t> left,
                                  std::vector<int32_t> right, Numbers numbers);

/// Proved for all sizes, by the kernel or by the provers alone, or not. Numbers are tried first
/// where the window is small: a proof of what a sample refutes would be a mistake.
Verdict judge(const Window& window, uint64_t effort, const Stop& stop);

}  // namespace regraft::verify

#pragma once
// Both sides of a rule as one floating point algorithm, at given sizes.
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "ir/algebra/trace.h"
#include "ir/rule/rule.h"

namespace regraft::verify {

/// Numbers for the symbols of real attributes.
using RealValues = std::map<Var, double, SymbolLess>;  // drawn in this order

/// Steps in order of evaluation over the elements of the rule's variables. A step occurs once,
/// however often it is used and by which side: operands of sums and products are sorted, since
/// IEEE 754 arithmetic commutes. Two elements are computed by the same operations in the same order
/// exactly when they are the same step. (The sign of a zero is not looked at.)
struct FloatProgram {
  enum Kind : uint8_t { Constant, Read, Add, Mul, Div, Apply, Clip, Max, Choose, Round };
  struct Step {
    Kind kind = Constant;
    Fn fn = Fn::Exp;         ///< of Apply; not Relu, which is a Max, and not Recip, which is a Div
    int32_t a = -1, b = -1;  ///< as in Tape. Round: step a, where an operator stores its result.
    auto operator<=>(const Step&) const = default;
  };
  std::vector<Step> steps;
  std::vector<Tape::Number> numbers;
  std::vector<std::array<double, 2>> bounds;
  std::vector<int32_t> arguments;
  std::vector<std::vector<int64_t>> inputs;  ///< shapes of the variables
  /// An element of an output: the step that has it on each side.
  struct Element {
    int output = 0;
    std::vector<int64_t> position;
    int32_t left = -1, right = -1;
  };
  std::vector<Element> elements;  ///< of all outputs, in order
};

/// Of a tensor of this shape.
inline size_t elements_of(const std::vector<int64_t>& shape) {
  size_t n = 1;
  for (int64_t d : shape) n *= static_cast<size_t>(d);
  return n;
}

/// Calls visit(operand step) for each operand of a step.
template <class F>
void for_each_operand(const FloatProgram& p, const FloatProgram::Step& s, F&& visit) {
  using K = FloatProgram::Kind;
  if (s.kind == K::Max || s.kind == K::Choose) {
    for (int32_t k = s.a; k < s.b; ++k) visit(p.arguments[static_cast<size_t>(k)]);
    return;
  }
  bool one = s.kind == K::Apply || s.kind == K::Clip || s.kind == K::Round;
  bool two = s.kind == K::Add || s.kind == K::Mul || s.kind == K::Div;
  if (one || two) visit(s.a);
  if (two) visit(s.b);
}

/// The steps that `step` needs, itself included, in order.
std::vector<int32_t> cone(const FloatProgram& p, int32_t step);

/// What OpDef::fill_float says of both sides. nullopt: a side is not well formed at these sizes, or
/// larger than a limit.
std::optional<FloatProgram> float_program(const RuleInstance& instance, const Valuation& sizes,
                                          const RealValues& reals);

/// Only these elements, and the steps that they need.
FloatProgram pruned(const FloatProgram& p, const std::vector<size_t>& elements);

}  // namespace regraft::verify

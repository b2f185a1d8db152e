#pragma once
// A formula at given shapes as a straight-line program over the elements of its operands.
// Read as a floating point algorithm (OpDef::fill_float) each step is rounded, a * recip(b) and
// a * (1 / n) are one division, a sum is added from first to last, a choice takes nothing
// from what it leaves out, and a function has the value
// that is nearest to the real one.
#include <array>
#include <cstdint>
#include <vector>

#include "ir/algebra/concrete.h"

namespace regraft {

/// Steps in order of evaluation; a step refers to earlier ones only.
class Tape {
 public:
  enum Kind : uint8_t { Constant, Read, Add, Mul, Apply, Clip, Max, Choose };
  struct Step {
    Kind kind = Constant;
    Fn fn = Fn::Relu;        ///< of Apply
    int32_t a = -1, b = -1;  ///< Constant: number a. Read: element b of operand a. Add, Mul: steps.
                             ///< Apply: step a. Clip: step a, bounds b. Max: arguments a .. b-1.
                             ///< Choose: the three arguments from a on.
  };
  /// A rational, or (d = 0) the real number `real`.
  struct Number {
    int64_t n = 0, d = 1;
    double real = 0;
  };
  std::vector<Step> steps;
  std::vector<Number> numbers;
  std::vector<std::array<Real, 2>> bounds;
  std::vector<int32_t> arguments;
};

/// A step of a tape that is being written.
struct Traced {
  int32_t step = 0;
  Tape* tape = nullptr;
  friend Traced operator+(Traced a, Traced b);
  friend Traced operator*(Traced a, Traced b);
};

/// Records what a formula does. The tape outlives its scalars.
struct Trace : Concrete<Trace, Traced> {
  Tape& tape;
  explicit Trace(Tape& t) : tape(t) {}
  Traced constant(int64_t n, int64_t d = 1);
  Traced real(Real r);
  Traced recip(int64_t n) { return n == 0 ? (ok = false, constant(0)) : constant(1, n); }
  Traced to_scalar(int64_t n) { return constant(n); }
  Traced element(int operand, int64_t flat);
  Traced apply(Fn f, Traced x);
  Traced clip(Traced x, Real low, Real high);
  template <class T, class E>
  Traced choose(Traced c, T&& then, E&& otherwise) {
    Traced a = then(), b = otherwise();
    return choice({c, a, b});
  }
  Traced maximum(const std::vector<Traced>& v);

 private:
  Traced choice(const std::array<Traced, 3>& of);
};

static_assert(Algebra<Trace>);

}  // namespace regraft

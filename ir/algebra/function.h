#pragma once
// Scalar functions that are no polynomials, and what is known of each: one row of functions.def.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace regraft {

/// Where a real function is defined.
enum class Domain : uint8_t { Everywhere, NotZero, NotNegative, Positive };

/// What the sign of f(x) is, where f is defined.
enum class SignOf : uint8_t {
  Unknown,
  Argument,      ///< that of x, and 0 at most where x is 0
  PositivePart,  ///< that of max(x, 0)
  Positive,
  TowardsZero,  ///< that of x, or 0
  FromBelow,    ///< that of x, or 0 where x is above
};

struct Interval {
  int low, high;
};

struct FnFacts {
  std::string_view name;
  bool zero_at_zero = false;  ///< f(0) = 0
  bool one_at_one = false;    ///< f(1) = 1
  bool idempotent = false;    ///< f(f(x)) = f(x)
  bool odd = false;           ///< f(-x) = -f(x)
  bool increasing = false;    ///< weakly, on its domain
  bool jumps = false;         ///< constant between jumps; its values are integers
  bool beyond_reals = false;  ///< it tells what is no number: 0 of all that are, which is no fact
                              ///< that proofs may use
  SignOf sign = SignOf::Unknown;  ///< of its values
  Domain domain = Domain::Everywhere;
  std::optional<Interval> range =
      std::nullopt;           ///< open, of its values; nullopt: not bounded on both sides
  double flops = 0;           ///< weight in the operation count of the roofline
  double (*value)(double x);  ///< by the host, with an error of at most `units` * 2^-52 |f(x)|
  /// A bound of |f(t) - y| for y = f(x) and |t - x| <= e, both in the domain; nullptr: floating
  /// point programs have a step of their own for the function. Of a function that is not
  /// increasing, e alone says it.
  double (*spread)(double x, double y, double e) = nullptr;
  int units = 4;
  std::string_view code;  ///< C text of f($); ir/algebra/code.h says what it may use
};

/// x as a number of so many bits; `least`: of the exponent that frexp gives, below which fewer bits
/// are left. Above `largest` it is infinite.
inline double nearest(double x, int bits, int least, double largest) {
  if (!std::isfinite(x) || x == 0) return x;
  int exponent = 0;
  std::frexp(x, &exponent);
  exponent = std::max(exponent, least) - bits;
  double y = std::ldexp(std::nearbyint(std::ldexp(x, -exponent)), exponent);
  return std::abs(y) > largest ? std::copysign(HUGE_VAL, x) : y;
}
/// The spread of rounding to such a number.
template <int Bits, int Least>
double floats_apart(double x, double, double e) {
  return e == 0 ? 0 : e + std::ldexp(std::abs(x) + e, 1 - Bits) + std::ldexp(1.0, Least - Bits);
}
/// The spread of the exponential function, also where y is too small for a double.
inline double exponentials_apart(double x, double y, double e) {
  return y < 1e-280 ? 2 * std::exp(x + e) : y * std::expm1(e);
}
/// The spread of a function that rounds to an integer, to one side or the other.
inline double integers_apart(double x, double, double e) {
  double near = std::abs(x - std::floor(x) - 0.5);  // 0 and 0.5: where such functions jump
  double jump = std::min(near, 0.5 - near) - 0x1p-52;
  return e <= 0 || e < jump ? 0 : 1 + e;
}

#define REGRAFT_FUNCTION(id, mpfr, ...) id,
enum class Fn : uint8_t {
#include "ir/algebra/functions.def"
};
#undef REGRAFT_FUNCTION

#define REGRAFT_FUNCTION(id, mpfr, ...) FnFacts{__VA_ARGS__},
inline constexpr FnFacts kFunctions[] = {
#include "ir/algebra/functions.def"
};
#undef REGRAFT_FUNCTION

#define REGRAFT_FUNCTION(id, mpfr, ...) Fn::id,
inline constexpr Fn kAllFunctions[] = {
#include "ir/algebra/functions.def"
};
#undef REGRAFT_FUNCTION

constexpr const FnFacts& facts(Fn f) { return kFunctions[static_cast<size_t>(f)]; }

}  // namespace regraft

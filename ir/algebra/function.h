#pragma once
// Scalar functions that are no polynomials, and what is known of each: one row of functions.def.
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
};

struct Interval {
  int low, high;
};

struct FnFacts {
  std::string_view name;
  bool zero_at_zero = false;      ///< f(0) = 0
  bool one_at_one = false;        ///< f(1) = 1
  bool idempotent = false;        ///< f(f(x)) = f(x)
  bool odd = false;               ///< f(-x) = -f(x)
  bool increasing = false;        ///< weakly, on its domain
  SignOf sign = SignOf::Unknown;  ///< of its values
  Domain domain = Domain::Everywhere;
  std::optional<Interval> range =
      std::nullopt;           ///< open, of its values; nullopt: not bounded on both sides
  double flops = 0;           ///< weight in the operation count of the roofline
  double (*value)(double x);  ///< by the host, with an error of at most `units` * 2^-52 |f(x)|
  /// A bound of |f(t) - y| for y = f(x) and |t - x| <= e, both in the domain; nullptr: floating
  /// point programs have a step of their own for the function.
  double (*spread)(double x, double y, double e) = nullptr;
  int units = 4;
  std::string_view code;  ///< C text of f($); ir/algebra/code.h says what it may use
};

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

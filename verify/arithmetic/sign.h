#pragma once
// Sign analysis: the lattice of what may be known of the sign of a real number. A value of it is
// the set of signs that the number may have, so that two facts about one number always combine by
// meet(), and a fact about several numbers is only ever made by the operation that combines the
// numbers. (Cousot and Cousot, "Abstract interpretation", POPL 1977, is the standard source.)
#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/algebra/algebra.h"

namespace regraft::verify {

/// Which of negative, zero and positive a number may be; by default each. Value type, thread-safe.
class Sign {
 public:
  constexpr Sign() = default;
  constexpr Sign(bool negative, bool zero, bool positive)
      : may_(static_cast<uint8_t>((negative ? 1 : 0) | (zero ? 2 : 0) | (positive ? 4 : 0))) {}

  constexpr bool may_be_negative() const { return may_ & 1; }
  constexpr bool may_be_zero() const { return may_ & 2; }
  constexpr bool may_be_positive() const { return may_ & 4; }
  constexpr bool not_negative() const { return !may_be_negative(); }
  constexpr bool not_positive() const { return !may_be_positive(); }
  constexpr bool not_zero() const { return !may_be_zero(); }
  constexpr bool positive() const { return not_negative() && not_zero(); }
  /// It lies on one side of zero, which may be included.
  constexpr bool one_sided() const { return not_negative() || not_positive(); }
  /// Positive, or negative.
  constexpr bool strict() const { return one_sided() && not_zero(); }
  constexpr bool operator==(const Sign&) const = default;

 private:
  uint8_t may_ = 7;
};

namespace sign {
inline constexpr Sign kUnknown{};
inline constexpr Sign kNegative{true, false, false};
inline constexpr Sign kZero{false, true, false};
inline constexpr Sign kPositive{false, false, true};
inline constexpr Sign kNotPositive{true, true, false};
inline constexpr Sign kNotZero{true, false, true};
inline constexpr Sign kNotNegative{false, true, true};
inline constexpr Sign kNone{false, false,
                            false};  ///< of no number: the facts contradict each other
}  // namespace sign

/// "unknown", "<0", "=0", ">0", "<=0", "!=0", ">=0" or "none".
std::string_view to_string(Sign s);

/// Of a number that has one of the two signs.
Sign join(Sign a, Sign b);
/// Of a number of which both facts are known.
Sign meet(Sign a, Sign b);
/// All that `weak` says follows from `strong`.
bool implies(Sign strong, Sign weak);

Sign negated(Sign a);
/// Of x + y and of x * y.
Sign sum(Sign a, Sign b);
Sign product(Sign a, Sign b);
/// Of 1/x where that is defined.
Sign reciprocal(Sign a);
/// Of the sum of one or more numbers of this sign.
Sign total(Sign a);
/// Of the numbers at which f is defined.
Sign domain_sign(Fn f);
/// Of f(x), where it is defined, for x of this sign.
Sign image(Fn f, Sign x);
/// Of min(max(x, low), high) for x of this sign; an unknown bound says nothing.
Sign clipped(Sign x, const Real& low, const Real& high);
Sign clipped(Sign x, Sign low, Sign high);
/// Of a number between two others; nullopt: no bound. `open`: the bound itself is not taken.
struct Bound {
  std::optional<Sign> value;  ///< the bound's own sign
  bool open = false;
};
Sign between(const Bound& low, const Bound& high);

}  // namespace regraft::verify

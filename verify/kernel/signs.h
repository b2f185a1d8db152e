#pragma once
// Signs of the kernel's real numbers.
#include "verify/kernel/term.h"

namespace regraft::kernel {

/// Which signs a number may have.
using Signs = uint8_t;
constexpr Signs kNegative = 1, kZero = 2, kPositive = 4, kAnySign = 7;
constexpr Signs kNotNegative = kZero | kPositive, kNotZero = kNegative | kPositive;

Signs sum_of(Signs a, Signs b);
Signs product_of(Signs a, Signs b);
Signs opposite(Signs a);
Signs sign_of(Fraction c);
/// "<", "<=", "=", ">=", ">" or "<>"; Refused.
Signs read_signs(std::string_view word);
inline bool within(Signs a, Signs b) { return (a & ~b) == 0; }

/// What is known of a number.
struct Known {
  Sum sum;
  Signs signs;
};

/// What the numbers' form and what is known of parts of them say together.
Signs sign_of(const Symbols& symbols, const List<Known>& known, const Sum& s);

}  // namespace regraft::kernel

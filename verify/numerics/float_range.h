#pragma once
// Which steps of a floating point algorithm cannot fail, by interval arithmetic.
#include "verify/numerics/float_run.h"

namespace regraft::verify {

/// For each step: whether no inputs of at most this magnitude make it overflow, divide by zero, or
/// take the root of a negative number, provided that the steps it needs did not.
std::vector<char> cleared_steps(const FloatProgram& p, Format format, double magnitude);

/// Nothing can fail in `to` that does not fail in `from`: every step that `to` needs is cleared, or
/// `from` needs it, too.
bool fails_no_more(const FloatProgram& p, const std::vector<char>& cleared, int32_t from,
                   int32_t to);

}  // namespace regraft::verify

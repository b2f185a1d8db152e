#pragma once
// Inputs at which floating point is judged.
#include "verify/numerics/float_run.h"

namespace regraft::verify {

/// How the elements of all inputs of a point are drawn.
enum class Stress : uint8_t {
  AllExponents,  ///< any finite number of the format, each bit pattern alike
  Usual,         ///< magnitudes from 1e-6 (float16: 1e-3) to the limit, even in their logarithm
  Positive,      ///< the same, of positive sign
  Logits,        ///< even in -200 .. 200 (float16: -100 .. 100)
  Offset,        ///< one value for each input, and a spread that is small beside it
  Cancelling,    ///< one magnitude for all inputs, of either sign, a small part apart
  Ties,          ///< 0, 1, -1, 1/2, 2: equal elements, exact sums
  Subnormal,     ///< subnormal and ordinary numbers side by side
  Extremes,      ///< each input of its own magnitude: the limit, 1, or far below 1
};
constexpr int kStresses = 9;

/// The largest magnitude of inputs for which a rule must not overflow where it did not before:
/// 1e4 in float32, 1e2 in float16. All draws but AllExponents keep to it.
double magnitude_limit(Format format);

/// Which elements of each input are wanted, or all where it is empty. The others are left out, and
/// make no difference to those that are.
using Wanted = std::vector<std::vector<char>>;

/// `count` points for inputs of these shapes, the stresses in turn from `first` on; deterministic.
Points draw_points(const std::vector<std::vector<int64_t>>& shapes, Format format, uint64_t seed,
                   size_t count, const Wanted& wanted = {});
/// Whether point `k` of these is of AllExponents.
bool is_unlimited(size_t point);
/// Points that stay within magnitude_limit, as many of them Extremes as others.
Points draw_limited_points(const std::vector<std::vector<int64_t>>& shapes, Format format,
                           uint64_t seed, size_t count, const Wanted& wanted = {});

/// The points with infinite elements, one in eight, in every other point: what a choice leaves out
/// may be infinite, such as a mask's value.
Points with_infinities(Points points, uint64_t seed);

}  // namespace regraft::verify

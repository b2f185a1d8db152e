#pragma once
// What an element type can hold, and what rounding to it costs.
#include <cstdint>
#include <limits>
#include <span>

#include "base/rng.h"
#include "ir/algebra/tensor.h"

namespace regraft::rewrite {

/// A binary floating point format. Of a type that is not real: exact and without bounds.
struct Format {
  double roundoff = 0;  ///< largest relative error of one rounding to nearest (unit roundoff)
  double largest = std::numeric_limits<double>::infinity();  ///< finite value
  double smallest = 0;                                       ///< positive (subnormal) value
};
Format format_of(DType type);

/// The format has this very number, were it not for its bounds. REQUIRES: of a real type.
bool holds(const Format& format, double value);

/// Which bounds of a format hold.
enum class Range : uint8_t { Unbounded, NoOverflow, Bounded };

/// Makes what is above the largest value infinite (not if Unbounded), and what rounds to zero zero
/// (if Bounded). Returns how many values it changed.
int64_t keep_in(const Format& format, Range range, std::span<double> values);

/// Adds to each finite value an error drawn uniformly from [-2e, 2e) where e is `relative` times
/// the value's magnitude, at least `absolute`.
void disturb(std::span<double> values, double relative, double absolute, Rng rng);

}  // namespace regraft::rewrite

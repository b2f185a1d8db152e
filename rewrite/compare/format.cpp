#include "rewrite/compare/format.h"

#include <algorithm>
#include <cmath>

namespace regraft::rewrite {

Format format_of(DType type) {
  switch (type) {
    case DType::F16:
      return {0x1p-11, 65504, 0x1p-24};
    case DType::BF16:
      return {0x1p-8, 0x1.fep127, 0x1p-133};
    case DType::F32:
      return {0x1p-24, std::numeric_limits<float>::max(), 0x1p-149};
    case DType::F64:
      return {0x1p-53, std::numeric_limits<double>::max(), 0x1p-1074};
    default:
      return {};
  }
}

bool holds(const Format& format, double value) {
  if (!std::isfinite(value)) return true;
  int exponent = 0;
  double digits = std::frexp(value, &exponent) / format.roundoff;
  return digits == std::floor(digits);
}

int64_t keep_in(const Format& format, Range range, std::span<double> values) {
  if (range == Range::Unbounded) return 0;
  double least = range == Range::Bounded ? format.smallest / 2 : 0;
  int64_t changed = 0;
  for (double& v : values) {
    double magnitude = std::abs(v);
    if (magnitude > format.largest && !std::isinf(v)) {
      v = std::copysign(std::numeric_limits<double>::infinity(), v);
      ++changed;
    } else if (magnitude < least && v != 0) {
      v = std::copysign(0.0, v);
      ++changed;
    }
  }
  return changed;
}

void disturb(std::span<double> values, double relative, double absolute, Rng rng) {
  for (double& v : values)
    if (std::isfinite(v)) v += 4 * (rng.unit() - 0.5) * std::max(relative * std::abs(v), absolute);
}

}  // namespace regraft::rewrite

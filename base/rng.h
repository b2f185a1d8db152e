#pragma once
// A seeded generator whose stream is the same everywhere.
#include <cstdint>

#include "base/hash.h"

namespace regraft {

/// Counter-based generator; a copy replays the same numbers. Not thread-safe: one per thread.
class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(mix(seed)) {}
  uint64_t next() { return mix(state_++); }
  /// As so many calls of next().
  void skip(uint64_t n) { state_ += n; }
  /// Uniform in [0, n). REQUIRES: n > 0.
  uint64_t below(uint64_t n) {
    return static_cast<uint64_t>((static_cast<uint128_t>(next()) * n) >> 64);
  }
  /// Uniform in [low, high].
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(below(static_cast<uint64_t>(high - low + 1)));
  }
  /// Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  uint64_t state_;
};

}  // namespace regraft

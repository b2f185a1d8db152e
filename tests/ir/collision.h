#pragma once
// Weights that an enemy would make: other numbers under the same hash, where a hash can be
// inverted.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "base/hash.h"

namespace regraft {

constexpr uint64_t kLaneFactor = 0x9fb21c651e98df25ULL;

inline uint64_t lane_after(uint64_t lane, uint64_t word) {
  return std::rotl(lane ^ word, 29) * kLaneFactor;
}

/// The hash by which constants were once compared: four lanes of eight bytes, each a bijection of
/// its words. REQUIRES: a multiple of 32 bytes.
inline uint64_t invertible_hash(const std::vector<float>& v) {
  std::array<uint64_t, 4> lanes = {1, 2, 3, 4}, words;
  for (size_t i = 0; i < v.size(); i += 8) {
    std::memcpy(words.data(), v.data() + i, sizeof words);
    for (size_t k = 0; k < 4; ++k) lanes[k] = lane_after(lanes[k], words[k]);
  }
  uint64_t h = mix(v.size() * sizeof(float));
  for (uint64_t lane : lanes) h = combine(h, lane);
  return h;
}

/// Four other numbers in v, ordinary ones, and the same invertible_hash: what the first word of a
/// lane changes, its second word changes back. REQUIRES: at least 16 numbers, a multiple of 8.
inline std::vector<float> colliding(std::vector<float> v) {
  auto word_at = [&](size_t i) {
    uint64_t w;
    std::memcpy(&w, v.data() + i, sizeof w);
    return w;
  };
  auto ordinary = [](float x) { return std::fabs(x) > 1e-2f && std::fabs(x) < 1e2f; };
  const uint64_t first = word_at(0), second = word_at(8);
  for (uint64_t n = 1;; ++n) {
    uint64_t other = first ^ n;
    uint64_t back = second ^ lane_after(1, first) ^ lane_after(1, other);
    std::array<float, 2> x = std::bit_cast<std::array<float, 2>>(other),
                         y = std::bit_cast<std::array<float, 2>>(back);
    if (!ordinary(x[0]) || !ordinary(x[1]) || !ordinary(y[0]) || !ordinary(y[1])) continue;
    std::memcpy(v.data(), &other, sizeof other);
    std::memcpy(v.data() + 8, &back, sizeof back);
    return v;
  }
}

}  // namespace regraft

#pragma once
// Hashes that are equal on every run and platform.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace regraft {

/// For the upper half of a product of two words.
__extension__ typedef unsigned __int128 uint128_t;

/// Finaliser with full avalanche (splitmix64).
inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Order-dependent combination.
inline uint64_t combine(uint64_t seed, uint64_t value) {
  return mix(std::rotl(seed, 23) * 0x632be59bd9b4e019ULL + value);
}

/// Of long data: a word at a time.
inline uint64_t hash_bytes(std::string_view bytes) {
  uint64_t h = bytes.size();
  for (size_t k = 0; k < bytes.size(); k += sizeof h) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + k, std::min(sizeof word, bytes.size() - k));
    h = combine(h, word);
  }
  return h;
}

inline uint64_t hash_text(std::string_view text) {
  uint64_t h = 0xcbf29ce484222325ULL;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return mix(h ^ text.size());
}

}  // namespace regraft

#pragma once
// Sums of products modulo the two primes of Residue, reduced late.
#include "ir/algebra/concrete.h"

namespace regraft::gen {

/// x modulo p = 2^61 - 3153.
inline uint64_t mod_p(uint128_t x) {
  constexpr uint64_t kMask = (uint64_t{1} << 61) - 1;
  constexpr uint64_t kExcess = (uint64_t{1} << 61) - Residue::kPrime;
  for (int round = 0; round < 2; ++round)
    x = (x >> 61) * kExcess + (static_cast<uint64_t>(x) & kMask);
  auto r = static_cast<uint64_t>(x);
  while (r >= Residue::kPrime) r -= Residue::kPrime;
  return r;
}
/// x modulo q = 2^60 - 1577.
inline uint64_t mod_q(uint128_t x) {
  constexpr uint64_t kMask = (uint64_t{1} << 60) - 1;
  constexpr uint64_t kExcess = (uint64_t{1} << 60) - Residue::kOrder;
  for (int round = 0; round < 2; ++round)
    x = (x >> 60) * kExcess + (static_cast<uint64_t>(x) & kMask);
  auto r = static_cast<uint64_t>(x);
  while (r >= Residue::kOrder) r -= Residue::kOrder;
  return r;
}
inline uint64_t times_p(uint64_t a, uint64_t b) { return mod_p(static_cast<uint128_t>(a) * b); }

/// Products of two residues that fit one 128-bit sum beside a reduced one.
constexpr size_t kLazy = 30;

/// The inner product modulo p. REQUIRES: equal sizes.
inline uint64_t dot_p(std::span<const uint64_t> a, std::span<const uint64_t> b) {
  uint128_t sum = 0;
  for (size_t first = 0; first < a.size(); first += kLazy) {
    size_t last = std::min(first + kLazy, a.size());
    for (size_t k = first; k < last; ++k) sum += static_cast<uint128_t>(a[k]) * b[k];
    if (last < a.size()) sum = mod_p(sum);
  }
  return mod_p(sum);
}

}  // namespace regraft::gen

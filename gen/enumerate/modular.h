#pragma once
// Sums of products modulo the two primes of Residue, reduced late.
#include "ir/algebra/concrete.h"

namespace regraft::gen {

/// x modulo kModulus, which is little less than 2^kBits.
template <int kBits, uint64_t kModulus>
uint64_t reduced(uint128_t x) {
  constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;
  constexpr uint64_t kExcess = (uint64_t{1} << kBits) - kModulus;
  static_assert(kBits >= 60 && kExcess < 1 << 12);
  uint128_t high = x >> kBits;
  auto top = static_cast<uint64_t>(high >> kBits);  // of at most 8 bits
  uint128_t y = static_cast<uint128_t>(static_cast<uint64_t>(high) & kMask) * kExcess +
                (static_cast<uint64_t>(x) & kMask) + top * kExcess * kExcess;
  uint64_t r = (static_cast<uint64_t>(y) & kMask) + static_cast<uint64_t>(y >> kBits) * kExcess;
  return r >= kModulus ? r - kModulus : r;
}
/// x modulo p = 2^61 - 3153.
inline uint64_t mod_p(uint128_t x) { return reduced<61, Residue::kPrime>(x); }
/// x modulo q = 2^60 - 1577.
inline uint64_t mod_q(uint128_t x) { return reduced<60, Residue::kOrder>(x); }
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

#pragma once
// The scalar of fingerprints: a real function of the inputs, sampled at a random point.
#include <cmath>
#include <cstdint>
#include <span>

#include "base/hash.h"
#include "base/rng.h"

namespace regraft {

/// Arithmetic modulo 2^Bits - C on numbers below it. C < 2^12, Bits <= 61.
template <int Bits, uint64_t C>
struct PseudoMersenne {
  static constexpr uint64_t kModulus = (uint64_t{1} << Bits) - C;
  static constexpr uint64_t add(uint64_t a, uint64_t b) {
    uint64_t s = a + b;
    return s >= kModulus ? s - kModulus : s;
  }
  static constexpr uint64_t mul(uint64_t a, uint64_t b) {
    constexpr uint64_t kMask = (uint64_t{1} << Bits) - 1;
    uint128_t m = static_cast<uint128_t>(a) * b;
    m = (m & kMask) + (m >> Bits) * C;  // below 2^(Bits + 13)
    uint64_t s = static_cast<uint64_t>(m & kMask) + static_cast<uint64_t>(m >> Bits) * C;
    return s >= kModulus ? s - kModulus : s;
  }
  static constexpr uint64_t power(uint64_t b, uint64_t e) {
    uint64_t r = 1;
    for (; e; e >>= 1, b = mul(b, b))
      if (e & 1) r = mul(r, b);
    return r;
  }
  static constexpr uint64_t inverse(uint64_t x) { return power(x, kModulus - 2); }  ///< 0 for 0
  static constexpr uint64_t of(int64_t n) {
    int64_t m = n % static_cast<int64_t>(kModulus);
    return static_cast<uint64_t>(m < 0 ? m + static_cast<int64_t>(kModulus) : m);
  }
};

/// One value in three channels, which have independent random inputs: modulo a prime p, which
/// decides equality; modulo the order q of a subgroup of its units, which exponents live in; and a
/// double, which decides comparisons. p = 2q + 1, and both leave 3 modulo 4. A value that is not
/// defined at this point (a division by zero, an order that rounding hides) is a NaN in the double,
/// and so is what is computed from it: it says nothing of the formula.
struct Residue {
  using ModPrime = PseudoMersenne<61, 3153>;
  using ModOrder = PseudoMersenne<60, 1577>;
  static constexpr uint64_t kPrime = ModPrime::kModulus;
  static constexpr uint64_t kOrder = ModOrder::kModulus;
  static_assert(kPrime == 2 * kOrder + 1 && kPrime % 4 == 3 && kOrder % 4 == 3);
  uint64_t v = 0;  ///< modulo kPrime
  uint64_t w = 0;  ///< modulo kOrder
  double r = 0;
  friend Residue operator+(Residue a, Residue b) {
    return {ModPrime::add(a.v, b.v), ModOrder::add(a.w, b.w), a.r + b.r};
  }
  friend Residue operator*(Residue a, Residue b) {
    return {ModPrime::mul(a.v, b.v), ModOrder::mul(a.w, b.w), a.r * b.r};
  }
  /// Equal as formulas, but for a chance of about degree / 2^61.
  friend bool operator==(Residue a, Residue b) { return a.v == b.v; }
};

/// An input: uniform in both moduli; the double is of either sign and between 1/16 and 128, uniform
/// in its logarithm: products stay away from 0, bounds of a clip are crossed, by roots too.
Residue random_residue(Rng& rng);
Residue residue_of(int64_t n);
/// A finite double exactly (a dyadic rational).
Residue residue_of(double x);
Residue inverse(Residue x);  ///< 1/x in each channel; modulo a prime 0 for 0
/// Replaces each by its reciprocal, with one inversion and three products for each; 0 in a modulus
/// has none and becomes a value that is not defined.
void invert(std::span<Residue> all);
Residue square_root(Residue x);  ///< multiplicative; its square is x or -x; |r| for r
inline bool is_defined(Residue x) { return !std::isnan(x.r); }
/// The order of a and b is beyond doubt: further apart than rounding errors, and not so large that
/// exponentials are capped.
bool decided(double a, double b);
/// exp, with arguments capped to what keeps products finite.
double capped_exp(double x);
/// a and b differ by rounding errors only.
bool nearly_equal(double a, double b);
/// A residue that stands for a double where values are compared as doubles. But for a small chance
/// it is the same for doubles that are nearly equal; odd; of a multiple of 1/1024 that number, so
/// that what jumps sees where it does; else random.
Residue residue_of_rounded(double x);

}  // namespace regraft

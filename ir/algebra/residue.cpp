#include "ir/algebra/residue.h"

#include <algorithm>
#include <array>
#include <bit>

namespace regraft {
namespace {

constexpr int kInverses = 65;

/// 1/n for small n, each from a smaller one.
template <class Mod>
constexpr std::array<uint64_t, kInverses> small_inverses() {
  std::array<uint64_t, kInverses> r{0, 1};
  for (uint64_t n = 2; n < kInverses; ++n)
    r[n] = Mod::mul(Mod::kModulus - Mod::kModulus / n, r[Mod::kModulus % n]);
  return r;
}
constexpr auto kPrimeInverses = small_inverses<Residue::ModPrime>();
constexpr auto kOrderInverses = small_inverses<Residue::ModOrder>();

/// 2^e.
template <class Mod>
uint64_t power_of_two(int e) {
  uint64_t base = e < 0 ? (Mod::kModulus + 1) / 2 : 2;
  return Mod::power(base, static_cast<uint64_t>(std::abs(e)));
}

}  // namespace

Residue random_residue(Rng& rng) {
  uint64_t v = rng.below(Residue::kPrime), w = rng.below(Residue::kOrder);
  double size = std::exp2(7 - 11 * rng.unit());
  return {v, w, rng.below(2) ? size : -size};
}

Residue residue_of(int64_t n) {
  return {Residue::ModPrime::of(n), Residue::ModOrder::of(n), static_cast<double>(n)};
}

Residue residue_of(double x) {
  if (!std::isfinite(x)) {
    uint64_t h = mix(std::bit_cast<uint64_t>(x));
    return {h % Residue::kPrime, h % Residue::kOrder, x};
  }
  if (std::abs(x) < 0x1p53 && x == std::floor(x)) return residue_of(static_cast<int64_t>(x));
  int exponent = 0;
  auto mantissa = static_cast<int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
  exponent -= 53;
  Residue scale{power_of_two<Residue::ModPrime>(exponent),
                power_of_two<Residue::ModOrder>(exponent), 0};
  Residue y = residue_of(mantissa) * scale;
  y.r = x;
  return y;
}

Residue inverse(Residue x) {
  if (x.v < kInverses && x.v == x.w) return {kPrimeInverses[x.v], kOrderInverses[x.v], 1 / x.r};
  return {Residue::ModPrime::inverse(x.v), Residue::ModOrder::inverse(x.w), 1 / x.r};
}

Residue square_root(Residue x) {
  return {Residue::ModPrime::power(x.v, (Residue::kPrime + 1) / 4),
          Residue::ModOrder::power(x.w, (Residue::kOrder + 1) / 4), std::sqrt(std::abs(x.r))};
}

bool decided(double a, double b) {
  double size = std::max(std::abs(a), std::abs(b));
  return std::abs(a - b) > 1e-11 * (1 + size) && size < 1e60;
}

double capped_exp(double x) { return std::exp(std::clamp(x, -300.0, 300.0)); }

}  // namespace regraft

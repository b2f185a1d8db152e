#include "ir/algebra/residue.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

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

constexpr int kOnes = 49;  // that the exponents below begin with, in binary

/// x to the 2^kOnes - 1. Both channels side by side, which keeps the multipliers busy.
struct Ones {
  uint64_t v, w;
  explicit Ones(Residue x) : v(x.v), w(x.w) {
    append(x.v, x.w, 1);  // 2
    append(x.v, x.w, 1);  // 3
    for (int n : {3, 6, 12, 24}) append(v, w, n);
    append(x.v, x.w, 1);
  }

 private:
  /// Appends the n binary digits of the exponents of a and b.
  void append(const uint64_t a, const uint64_t b, int n) {
    uint64_t x = v, y = w;
    for (; n > 0; --n) {
      x = Residue::ModPrime::mul(x, x);
      y = Residue::ModOrder::mul(y, y);
    }
    v = Residue::ModPrime::mul(x, a);
    w = Residue::ModOrder::mul(y, b);
  }
};

/// x to the power of Exponent, from x to the 2^kOnes - 1.
template <class Mod, uint64_t Exponent>
uint64_t finished(uint64_t x, uint64_t power) {
  constexpr int kRest = std::bit_width(Exponent) - kOnes;
  static_assert(kRest > 0 && Exponent >> kRest == (uint64_t{1} << kOnes) - 1);
  for (int k = kRest; k-- > 0;) {
    power = Mod::mul(power, power);
    if (Exponent >> k & 1) power = Mod::mul(power, x);
  }
  return power;
}

/// What a function gave for the numbers it met last, in the moduli: a formula asks at each position
/// for the same few, of each channel or each row.
class Recent {
 public:
  template <class F>
  std::pair<uint64_t, uint64_t> of(Residue x, F&& compute) {
    Entry& e = entries_[(x.v ^ x.w * 3) % kEntries];
    if (e.v != x.v || e.w != x.w) {
      auto [v, w] = compute();
      e = {x.v, x.w, v, w};
    }
    return {e.result_v, e.result_w};
  }

 private:
  static constexpr size_t kEntries = 1024;
  struct Entry {
    uint64_t v = 0, w = 0, result_v = 0, result_w = 0;  // 0 for 0
  };
  std::array<Entry, kEntries> entries_;
};

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
  thread_local Recent recent;
  auto [v, w] = recent.of(x, [&] {
    const Ones ones(x);
    return std::pair(finished<Residue::ModPrime, Residue::kPrime - 2>(x.v, ones.v),
                     finished<Residue::ModOrder, Residue::kOrder - 2>(x.w, ones.w));
  });
  return {v, w, 1 / x.r};
}

void invert(std::span<Residue> all) {
  std::vector<Residue> before;  // the product of all that come first
  before.reserve(all.size());
  Residue product = residue_of(int64_t{1});
  auto has_inverse = [](Residue x) { return x.v != 0 && x.w != 0; };
  for (const Residue& x : all) {
    before.push_back(product);
    if (!has_inverse(x)) continue;
    product.v = Residue::ModPrime::mul(product.v, x.v);
    product.w = Residue::ModOrder::mul(product.w, x.w);
  }
  Residue rest = inverse(product);  // of those up to the one at work
  for (size_t k = all.size(); k-- > 0;) {
    Residue& x = all[k];
    if (!has_inverse(x)) {
      x = {0, 0, std::numeric_limits<double>::quiet_NaN()};
      continue;
    }
    Residue result{Residue::ModPrime::mul(rest.v, before[k].v),
                   Residue::ModOrder::mul(rest.w, before[k].w), 1 / x.r};
    rest.v = Residue::ModPrime::mul(rest.v, x.v);
    rest.w = Residue::ModOrder::mul(rest.w, x.w);
    x = result;
  }
}

Residue square_root(Residue x) {
  thread_local Recent recent;
  auto [v, w] = recent.of(x, [&] {
    const Ones ones(x);
    return std::pair(finished<Residue::ModPrime, (Residue::kPrime + 1) / 4>(x.v, ones.v),
                     finished<Residue::ModOrder, (Residue::kOrder + 1) / 4>(x.w, ones.w));
  });
  return {v, w, std::sqrt(std::abs(x.r))};
}

bool decided(double a, double b) {
  double size = std::max(std::abs(a), std::abs(b));
  return std::abs(a - b) > 1e-11 * (1 + size) && size < 1e60;
}

bool nearly_equal(double a, double b) {
  return std::abs(a - b) <= 1e-9 * (1 + std::max(std::abs(a), std::abs(b)));
}

Residue residue_of_rounded(double x) {
  constexpr double kMostShort = 0x1p20, kUnit = 1024, kRounding = 1e-10;
  constexpr int kBits = 30;  // that are kept of what is above 1
  if (!std::isfinite(x)) return residue_of(x);
  Residue y;
  if (double n = std::nearbyint(x * kUnit) / kUnit;
      std::abs(x) < kMostShort && std::abs(x - n) < kRounding) {
    y = residue_of(n);
  } else {
    int exponent = std::abs(x) > 1 ? std::ilogb(x) : 0;
    auto kept = static_cast<uint64_t>(std::nearbyint(std::ldexp(std::abs(x), kBits - exponent)));
    uint64_t h = combine(kept, static_cast<uint64_t>(exponent));
    y = {mix(h) % Residue::kPrime, mix(~h) % Residue::kOrder, 0};
    if (x < 0) y = y * residue_of(int64_t{-1});
  }
  y.r = x;
  return y;
}

double capped_exp(double x) { return std::exp(std::clamp(x, -300.0, 300.0)); }

}  // namespace regraft

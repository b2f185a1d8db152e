// Inputs of the order channel are on both sides of what they are compared with.
#include "gen/enumerate/order_sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace regraft::gen {
namespace {

constexpr size_t kTrials = 16;

std::vector<double> random_values(size_t count, Rng& rng) {
  std::vector<double> values;
  for (size_t k = 0; k < count; ++k)
    values.push_back((rng.below(2) ? 1 : -1) * std::exp2(7 - 11 * rng.unit()));
  return values;
}

TEST(OrderSampler, ScalarsAreInEachInterval) {
  const OrderSampler sampler({8, 0.5}, kTrials);
  for (size_t number = 0; number < 5; ++number) {
    Rng rng(number);
    std::set<int> places;  // sign, and interval between 1/2, 1 and 8
    for (double v : sampler.values(random_values(kTrials, rng), 1, number, rng)) {
      double size = std::abs(v);
      EXPECT_GE(size, 1.0 / 16);
      EXPECT_LE(size, 128);
      places.insert((v < 0 ? 4 : 0) + (size > 0.5) + (size > 1) + (size > 8));
    }
    EXPECT_EQ(places.size(), 8u) << number;
  }
}

TEST(OrderSampler, TwoScalarsHaveAllSigns) {
  const OrderSampler sampler({8}, kTrials);
  for (size_t a = 0; a < 4; ++a)
    for (size_t b = a + 1; b < 5; ++b) {
      Rng rng(7);
      auto x = sampler.values(random_values(kTrials, rng), 1, a, rng);
      auto y = sampler.values(random_values(kTrials, rng), 1, b, rng);
      std::set<std::pair<bool, bool>> signs;
      for (size_t k = 0; k < kTrials; ++k) signs.emplace(x[k] < 0, y[k] < 0);
      EXPECT_EQ(signs.size(), 4u) << a << " " << b;
    }
}

TEST(OrderSampler, TensorsAreMixedAndOfOneSign) {
  constexpr size_t kElements = 6;
  const OrderSampler sampler({}, kTrials);
  std::set<int> seen;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Rng rng(seed);
    auto v = sampler.values(random_values(kTrials * kElements, rng), kElements, 0, rng);
    for (size_t trial = kTrials / 2; trial < kTrials; ++trial) {
      int negative = 0;
      for (size_t e = 0; e < kElements; ++e) negative += v[trial * kElements + e] < 0;
      EXPECT_TRUE(negative == 0 || negative == kElements) << seed << " " << trial;
      seen.insert(negative);
    }
  }
  EXPECT_EQ(seen.size(), 2u);
}

}  // namespace
}  // namespace regraft::gen

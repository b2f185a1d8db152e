#include "cost/profile/timing.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace regraft::cost {
namespace {

TEST(Timing, TheMedianIsNotMovedByOutliers) {
  Timing t = summarise({3, 1, 2, 1000, 2});
  EXPECT_EQ(t.microseconds, 2);
  EXPECT_EQ(t.runs, 5);
  EXPECT_EQ(summarise({1, 3}).microseconds, 2);
  EXPECT_EQ(summarise({7}).noise, 0);
}

TEST(Timing, TheIntervalHoldsTheMedianInNineteenOfTwentyCases) {
  Rng rng(11);
  int held = 0;
  constexpr int kCases = 2000;
  for (int k = 0; k < kCases; ++k) {
    std::vector<double> samples;
    for (int n = 0; n < 25; ++n) samples.push_back(1 + rng.unit());
    Timing t = summarise(samples);
    held += std::abs(t.microseconds - 1.5) <= 1.25 * t.noise * t.microseconds;
  }
  EXPECT_GT(held, kCases * 9 / 10);
}

TEST(Timing, MoreSamplesAreLessNoisy) {
  Rng rng(12);
  std::vector<double> samples;
  for (int n = 0; n < 400; ++n) samples.push_back(1 + rng.unit());
  double many = summarise(samples).noise;
  samples.resize(20);
  EXPECT_LT(many, 0.6 * summarise(samples).noise);
}

}  // namespace
}  // namespace regraft::cost

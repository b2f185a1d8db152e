#include "rl/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace regraft::rl {
namespace {

TEST(Statistics, InterquartileMeanLeavesOutTheEnds) {
  EXPECT_DOUBLE_EQ(interquartile_mean({9, -100, 3, 1000, 4, 1, 5, 2}), 3.5);  // of 2, 3, 4, 5
  EXPECT_DOUBLE_EQ(interquartile_mean({10, 1, 2, 3, 100}), 5);                // of 2, 3, 10
  EXPECT_DOUBLE_EQ(interquartile_mean({1, 2, 6}), 3);
}

TEST(Statistics, MeansAndQuantiles) {
  EXPECT_DOUBLE_EQ(geometric_mean(std::vector<double>{2, 8, 4}), 4);
  EXPECT_DOUBLE_EQ(mean_of(std::vector<double>{2, 8, 5}), 5);
  EXPECT_DOUBLE_EQ(quantile({30, 10, 20}, 0.5), 20);
  EXPECT_DOUBLE_EQ(quantile({30, 10, 20}, 0.25), 15);
  EXPECT_DOUBLE_EQ(quantile({30, 10, 20}, 1), 30);
}

TEST(Statistics, ProbabilityOfImprovementCountsTiesHalf) {
  std::vector<double> a{1, 2, 3}, b{2, 2};
  EXPECT_DOUBLE_EQ(probability_of_improvement(a, b), 0.5);  // 0 + 1 + 2 of 6
  EXPECT_DOUBLE_EQ(probability_of_improvement(std::vector<double>{3, 2}, b), 0.75);
  EXPECT_DOUBLE_EQ(probability_of_improvement(b, a), 1 - probability_of_improvement(a, b));
}

TEST(Statistics, DrawsWithinGraphsAndTrainings) {
  Scores scores{{{1, 2}, {10, 20}, {100, 200}}, {{-1, -2}, {-10, -20}, {-100, -200}}};
  std::set<std::vector<double>> patterns;
  bool apart = false;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Scores shared = resampled(scores, Trainings::Shared, seed);
    Scores own = resampled(scores, Trainings::Own, seed);
    auto size = [](double x) { return std::floor(std::log10(std::abs(x))); };
    for (const Scores& s : {shared, own})
      for (size_t g = 0; g < 2; ++g)
        for (const auto& row : s[g]) {
          ASSERT_EQ(row.size(), 2U);
          for (double x : row) {
            EXPECT_EQ(x > 0, g == 0);          // stays in its graph
            EXPECT_EQ(size(x), size(row[0]));  // and in its training
          }
        }
    for (size_t t = 0; t < 3; ++t) {
      EXPECT_EQ(size(shared[0][t][0]), size(shared[1][t][0]));
      apart |= size(own[0][t][0]) != size(own[1][t][0]);
    }
    patterns.insert({size(own[0][0][0]), size(own[0][1][0]), size(own[0][2][0])});
  }
  EXPECT_TRUE(apart);
  EXPECT_EQ(patterns.size(), 27U);  // all ways to draw three of three
}

TEST(Statistics, IntervalsOfOneNumberAreThatNumber) {
  Scores one{{{0.5}}, {{0.7}}}, other{{{0.4}}, {{0.4}}};
  Interval i = interquartile_mean(one, {});
  EXPECT_DOUBLE_EQ(i.value, 0.6);
  EXPECT_DOUBLE_EQ(i.low, 0.6);
  EXPECT_DOUBLE_EQ(i.high, 0.6);
  EXPECT_DOUBLE_EQ(probability_of_improvement(one, other, {}).low, 1);
  Interval d = paired_difference(one, other, {});  // 0.1 and 0.3: graphs are drawn
  EXPECT_NEAR(d.value, 0.2, 1e-12);
  EXPECT_NEAR(d.low, 0.1, 1e-12);
  EXPECT_NEAR(d.high, 0.3, 1e-12);
}

/// Of a mean of n numbers that are 0 or 1, half each, the deviation is 1 / (2 sqrt n). Two layers
/// of drawing: rows that do not differ add nothing, and rows that are all of the difference count.
TEST(Statistics, TheIntervalIsAsWideAsItMustBe) {
  std::vector<double> half;
  for (int k = 0; k < 400; ++k) half.push_back(k % 2);
  BootstrapOptions options{.replicates = 4000, .seed = 1};
  Scores zero{{{0}}};
  auto width = [&](const Runs& runs) {
    Scores s{runs};
    BootstrapOptions o = options;
    Interval i = paired_difference(s, zero, o);
    EXPECT_NEAR(i.value, 0.5, 1e-12);
    return i.high - i.low;
  };
  double expected = 2 * 1.96 * 0.5 / 20;
  EXPECT_NEAR(width({half}), expected, 0.1 * expected);
  Runs rows(100);
  for (size_t k = 0; k < rows.size(); ++k) rows[k].assign(4, static_cast<double>(k % 2));
  EXPECT_NEAR(width(rows), 2 * expected, 0.2 * expected);  // 100 draws, however many searches
}

TEST(Statistics, GeometricMeanOfRatios) {
  Interval i = geometric_mean(std::vector<double>{0.5, 2, 2, 8}, {.seed = 3});
  EXPECT_DOUBLE_EQ(i.value, 2);
  EXPECT_GT(i.low, 0.5);
  EXPECT_LT(i.low, 1.2);
  EXPECT_GT(i.high, 3.5);
  EXPECT_LT(i.high, 8);
  Interval again = geometric_mean(std::vector<double>{0.5, 2, 2, 8}, {.seed = 3});
  EXPECT_EQ(i.low, again.low);
  EXPECT_EQ(i.high, again.high);
}

}  // namespace
}  // namespace regraft::rl
